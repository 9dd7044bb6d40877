import type { AnswerOf, OwnerCommand, OwnerVerb, QuestionOf } from '@berth/contracts';
import {
  ENDPOINT_BOUNDS_DEFAULT,
  INLINE_INPUT_MAX_BYTES,
  PlatformError,
  itemJobId,
  type EndpointId,
  type LogFact,
} from '@berth/domain';
import { ManualClock, SeededRandom } from '@berth/testing';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { named, openSubmissions, requestOf, textOf } from '../../test/fixtures/edge-scene.js';
import { EndpointOwner } from '../../test/fixtures/endpoint-owner.js';
import { KeptBlobs } from '../../test/fixtures/kept-blobs.js';
import type { JobsAccepted } from './jobs.port.js';
import { Owners } from '../owners/index.js';
import type { JobSubmissions } from './job-submissions.js';

/** What becomes of one command between a router and the owner. */
const FATES = [
  'arrives', // and its answer comes back
  'no-room', // the endpoint is full just then
  'arrives-twice', // the first answer was lost, so it was asked again
  'arrives-late-too', // and once more later, behind others
  'answer-lost', // for good: the router gives up, and does not know
  'lost', // it never arrives, and the router gives up
  'delayed', // the router gives up, and it arrives later
] as const;
type Fate = (typeof FATES)[number];

const outage = new PlatformError('service-unavailable', 'nobody answered');

/** The way to one real owner, on which everything happens that may. */
class TroubledOwners extends Owners {
  readonly #owner: EndpointOwner;
  readonly #fates: Iterator<Fate>;
  readonly #scheduler: fc.Scheduler;
  /** Once everything is over, everything arrives. */
  isCalm = false;

  constructor(owner: EndpointOwner, fates: Iterator<Fate>, scheduler: fc.Scheduler) {
    super();
    this.#owner = owner;
    this.#fates = fates;
    this.#scheduler = scheduler;
  }

  override async ask<Verb extends OwnerVerb>(
    _: EndpointId,
    __: Verb,
    question: QuestionOf<Verb>,
  ): Promise<AnswerOf<Verb>> {
    const { command } = question as { readonly command: OwnerCommand };
    return (await this.#deliver(command)) as AnswerOf<Verb>;
  }

  async #deliver(command: OwnerCommand): Promise<unknown> {
    const fate = this.isCalm ? 'arrives' : (this.#fates.next().value as Fate);
    if (fate === 'lost') throw outage;
    const arrival = this.#arrive(command, fate === 'no-room');
    if (fate === 'delayed') throw outage;
    let answer = await arrival;
    if (fate === 'arrives-twice') answer = await this.#arrive(command);
    if (fate === 'arrives-late-too') void this.#arrive(command);
    await this.#scheduler.schedule(Promise.resolve(), 'answer');
    if (fate === 'answer-lost') throw outage;
    return answer;
  }

  async #arrive(command: OwnerCommand, isFull = false): Promise<unknown> {
    await this.#scheduler.schedule(Promise.resolve(), 'question');
    this.#owner.bounds = { ...ENDPOINT_BOUNDS_DEFAULT, ...(isFull && { livingJobs: 0 }) };
    return this.#owner.perform(command);
  }
}

interface Caller {
  readonly body: 'body' | 'another';
  readonly router: number;
}

const SIZE = 14;
/** Several pieces, and inputs that lie beside the log. */
const bytesOf = (item: number): number => (item % 4 === 3 ? INLINE_INPUT_MAX_BYTES + 1 : 50_000);

const send = (router: JobSubmissions, { body }: Caller): Promise<JobsAccepted | PlatformError> =>
  router
    .submit(requestOf(SIZE, { name: named(body), bytes: bytesOf }))
    .catch((error: unknown) => error as PlatformError);

const isWhole = (answer: JobsAccepted | PlatformError): answer is JobsAccepted =>
  !(answer instanceof PlatformError) && answer.outcomes.every(({ kind }) => kind === 'accepted');

function checkLog(owner: EndpointOwner, blobs: KeptBlobs): void {
  const accepted = owner.facts.flatMap((fact: LogFact) => (fact.kind === 'submitted' ? [fact.job] : []));
  const firstId = accepted[0]?.key?.firstId;
  expect(accepted.map(({ jobId }) => jobId)).toEqual(
    accepted.map((_, item) => itemJobId({ firstId: firstId as never, size: SIZE }, item)),
  );
  for (const [item, { body, jobId }] of accepted.entries()) {
    const text = body.input.kind === 'inline' ? body.input.json : decoded(blobs.kept.get(`ep/${jobId}/in`));
    // Compared in here: nobody wants to read what differs.
    expect([item, text === textOf(bytesOf(item), item)]).toEqual([item, true]);
  }
}

const decoded = (bytes: Uint8Array | undefined): string | null =>
  bytes === undefined ? null : Buffer.from(bytes).toString();

const callers = fc.array(
  fc.record<Caller>({
    body: fc.oneof({ weight: 5, arbitrary: fc.constant('body' as const) }, fc.constant('another' as const)),
    router: fc.nat(2),
  }),
  { minLength: 1, maxLength: 5 },
);
const fates = fc.infiniteStream(
  fc.oneof({ weight: 6, arbitrary: fc.constant<Fate>('arrives') }, fc.constantFrom(...FATES)),
);

test('whatever is lost, comes twice or comes late, each item of a named list is accepted once, in order, with its input', async () => {
  await fc.assert(
    fc.asyncProperty(fc.scheduler(), fates, callers, async (scheduler, fate, requests) => {
      const clock = new ManualClock();
      const owner = new EndpointOwner(() => clock.nowMs());
      const owners = new TroubledOwners(owner, fate, scheduler);
      const blobs = new KeptBlobs();
      const routers = [1, 2, 3].map((seed) =>
        openSubmissions({ owners, blobs, clock, random: new SeededRandom(seed) }),
      );
      const answering = requests.map((caller) => send(routers[caller.router] as JobSubmissions, caller));
      await scheduler.waitIdle();
      const answers = await Promise.all(answering);
      checkLog(owner, blobs);
      const key = [...owner.state.keys.values()][0]?.data;
      expect(owner.facts.filter(({ kind }) => kind === 'submitted')).toHaveLength(key?.accepted ?? 0);

      owners.isCalm = true;
      const again = Promise.all(
        (['body', 'another'] as const).map((body) => send(routers[0] as JobSubmissions, { body, router: 0 })),
      );
      await scheduler.waitIdle();
      const last = (await again).filter(isWhole);
      // Of two bodies under one key exactly one has made its jobs, all of them.
      expect(last).toHaveLength(1);
      checkLog(owner, blobs);
      expect(owner.facts.filter(({ kind }) => kind === 'submitted')).toHaveLength(SIZE);
      for (const answer of answers.filter(isWhole)) expect(answer.outcomes).toEqual(last[0]?.outcomes);
    }),
    { numRuns: 150 },
  );
});
