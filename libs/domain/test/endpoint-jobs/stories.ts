import fc from 'fast-check';
import { ENDPOINT_BOUNDS_DEFAULT } from '../../src/endpoint-jobs/bounds.js';
import type {
  AttemptProof,
  EndpointCommand,
  JobWish,
  SubmitCommand,
  TakeWish,
} from '../../src/endpoint-jobs/commands.js';
import type { HostId, JobId, WorkerId } from '../../src/ids.js';
import { itemJobId } from '../../src/endpoint-jobs/job-data.js';
import { encodeJson } from '../../src/json/index.js';

/** One step of a story: what is done, and numbers out of which its details are made. */
export interface Step {
  readonly does: (typeof ACTIONS)[number];
  readonly afterMs: number;
  readonly a: number;
  readonly b: number;
  readonly chance: number;
}

const ACTIONS = [
  ...([
    'submit',
    'submit',
    'submit',
    'submit-again',
    'submit-batch',
    'submit-keyed',
    'submit-keyed',
    'submit-taken',
  ] as const),
  ...(['take', 'take', 'take', 'take', 'take-again', 'renew', 'renew', 'renew', 'progress'] as const),
  ...(['complete', 'complete', 'fail', 'fail', 'time-out', 'give-up', 'give-back', 'let-go', 'let-go'] as const),
  ...(['cancel', 'retry', 'retry', 'retry-again', 'replace-life', 'purge', 'purge-again'] as const),
  ...([
    'look',
    'look',
    'begin-try',
    'begin-try',
    'end-try',
    'end-try',
    'open',
    'hear',
    'late',
    'commit',
    'carry',
    'delete',
  ] as const),
] as const;

/** What a holder may say of its attempt. */
type Word = 'progress' | 'complete' | 'fail' | 'time-out' | 'give-up' | 'give-back' | 'let-go';

const waits = fc.oneof(
  { weight: 6, arbitrary: fc.nat(1_500) },
  { weight: 3, arbitrary: fc.nat(12_000) },
  { weight: 2, arbitrary: fc.integer({ min: 25_000, max: 45_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 100_000, max: 400_000 }) },
);

const step = (does: fc.Arbitrary<Step['does']>, afterMs: fc.Arbitrary<number>): fc.Arbitrary<Step> =>
  fc.record({
    does,
    afterMs,
    a: fc.nat(999),
    b: fc.nat(999),
    chance: fc.double({ min: 0, max: 0.999, noNaN: true }),
  });

const anyStep = step(fc.constantFrom(...ACTIONS), waits);

const justNow = fc.nat(200);
const silence = fc.integer({ min: 30_000, max: 33_000 });
const aWhile = fc.integer({ min: 120_000, max: 200_000 });

/** What chance alone would hardly bring about: holders that die again and again, and a log that is carried in its midst. */
const arcs: fc.Arbitrary<readonly Step[]> = fc
  .constantFrom(
    [
      ['take', justNow],
      ['look', silence],
      ['take', waits],
      ['look', silence],
      ['take', waits],
      ['look', silence],
    ] as const,
    [
      ['take', justNow],
      ['renew', fc.constant(5_000)],
      ['look', silence],
    ] as const,
    [
      ['take', justNow],
      ['progress', justNow],
      ['commit', justNow],
      ['carry', aWhile],
      ['complete', justNow],
    ] as const,
    [
      ['complete', justNow],
      ['carry', aWhile],
      ['begin-try', justNow],
      ['end-try', justNow],
      ['carry', aWhile],
    ] as const,
    [
      ['submit-keyed', justNow],
      ['submit-keyed', justNow],
      ['submit-keyed', justNow],
      ['submit-keyed', waits],
      ['submit-keyed', waits],
    ] as const,
    [
      ['purge', justNow],
      ['submit', aWhile],
      ['carry', justNow],
      ['purge-again', justNow],
    ] as const,
  )
  .chain((arc) => fc.tuple(...arc.map(([does, afterMs]) => step(fc.constant(does), afterMs))));

/** @param minLength the shortest one; those that chance makes are short as a rule */
export const stories = (maxLength: number, minLength = 1): fc.Arbitrary<readonly Step[]> =>
  fc
    .array(fc.oneof({ weight: 12, arbitrary: anyStep.map((each) => [each]) }, { weight: 1, arbitrary: arcs }), {
      minLength,
      maxLength,
    })
    .map((parts) => parts.flat());

interface NamedRequest {
  readonly name: string;
  /** As each of two routers would have its first job. */
  readonly firstIds: readonly JobId[];
  readonly size: number;
}

/** What has been seen of a story so far, out of which its next commands are made. */
export class StoryTeller {
  readonly jobIds: JobId[] = [];
  readonly proofs: AttemptProof[] = [];
  readonly tries: { jobId: JobId; attempt: number; token: string }[] = [];
  /** Deliveries that are not over. */
  pending: readonly { readonly jobId: JobId; readonly attempt: number }[] = [];
  readonly #takes: TakeWish[] = [];
  /** An edge sends one again as it was, so it comes late after a while. */
  readonly #submits: SubmitCommand[] = [];
  #count = 0;
  readonly #keyed: NamedRequest[] = [];
  #retryId = 'r0';
  #purgeId = 'p0';

  /** Null: the step is no command, or nothing is there yet to command. */
  commandOf(step: Step, nowMs: number): EndpointCommand | null {
    const { a, b, chance } = step;
    const sentAtMs = step.does === 'late' ? nowMs - 10_001 : nowMs - (b % 3_000);
    const jobId = pick(this.jobIds, a) ?? ('nobody' as JobId);
    const retry = (retryId: string): EndpointCommand => ({ kind: 'retry', sentAtMs, jobId, retryId });
    switch (step.does) {
      case 'submit':
      case 'late':
        return this.#submit([this.#wish(step)], { sentAtMs });
      case 'submit-again':
        return pick(this.#submits.slice(-4), a) ?? null;
      case 'submit-batch':
        return this.#submit(
          Array.from({ length: 1 + (a % 5) }, (_, at) => this.#wish({ ...step, a: a + at })),
          {
            sentAtMs,
          },
        );
      case 'submit-keyed':
        return this.#submitKeyed(step, sentAtMs);
      case 'submit-taken':
        return this.#submit([this.#wish(step), this.#wish({ ...step, a: a + 1 })], {
          sentAtMs,
          takers: [this.#take(step)],
        });
      case 'take':
        return {
          kind: 'take',
          sentAtMs,
          wishes: [this.#take(step), ...(b % 3 === 0 ? [this.#take({ ...step, a: b })] : [])],
        };
      case 'take-again': {
        const wish = pick(this.#takes.slice(-4), a);
        return wish === undefined ? null : { kind: 'take', sentAtMs, wishes: [wish] };
      }
      case 'cancel':
        return { kind: 'cancel', sentAtMs, jobId };
      case 'retry':
        this.#retryId = `r${(this.#count += 1)}`;
        return retry(this.#retryId);
      case 'retry-again':
        return retry(this.#retryId);
      case 'replace-life':
        return { kind: 'replace-life', sentAtMs, jobId, leftMs: 1_000 + a * (b % 2 === 0 ? 50 : 5_000) };
      case 'purge':
        this.#purgeId = `p${(this.#count += 1)}`;
        return { kind: 'purge', sentAtMs, purgeId: this.#purgeId };
      case 'purge-again':
        return { kind: 'purge', sentAtMs, purgeId: this.#purgeId };
      case 'look':
        return { kind: 'look', fraction: chance };
      case 'begin-try': {
        const { attempt, jobId: of } = pick(this.pending, a) ?? { jobId, attempt: 1 };
        const again = b % 5 === 0 ? this.tries.at(-1)?.token : undefined;
        return { kind: 'begin-try', jobId: of, attempt, token: again ?? `s${(this.#count += 1)}` };
      }
      case 'end-try': {
        const told = pick(this.tries.slice(-4), a);
        if (told === undefined) return null;
        const { attempt, jobId: of, token } = told;
        const isSuccess = b % 3 === 0;
        const error = isSuccess ? null : 'refused';
        return { kind: 'end-try', jobId: of, attempt, token, isSuccess, statusCode: null, error };
      }
      case 'open':
        return { kind: 'open', routerId: `router-${b % 3}` };
      case 'delete':
        // Once in a while: everything after it is dull.
        return a < 40 ? { kind: 'delete' } : null;
      case 'progress':
      case 'complete':
      case 'fail':
      case 'time-out':
      case 'give-up':
      case 'give-back':
      case 'let-go':
        return this.#word(step, step.does);
      case 'renew':
      case 'hear':
      case 'commit':
      case 'carry':
        return null;
    }
  }

  /** Of an attempt that runs, ran, or never was: now and then with another's token, or from another host. */
  proofOf({ a, b }: Step): AttemptProof | null {
    const proof = pick(this.proofs.slice(-6), a);
    if (proof === undefined) return null;
    if (b % 11 === 0) return { ...proof, token: pick(this.proofs, b)?.token === proof.token ? 'forged' : 'another' };
    if (b % 13 === 0) return { ...proof, hostId: 'elsewhere' as HostId };
    return b % 17 === 0 ? { ...proof, attempt: proof.attempt + 1 } : proof;
  }

  #word(step: Step, does: Word): EndpointCommand | null {
    const proof = this.proofOf(step);
    if (proof === null) return null;
    const output = this.#payload(step);
    const ending = { chunks: step.a % 5, logTail: ['last words'] };
    switch (does) {
      case 'progress':
        return { kind: 'progress', ...proof, output, outputBytes: toldBytes(step, output) };
      case 'complete':
        return {
          ...{ kind: 'finish', ...proof, state: 'COMPLETED', error: null, ...ending },
          ...{ output, outputBytes: toldBytes(step, output) },
        };
      case 'fail':
        return {
          kind: 'finish',
          ...proof,
          state: 'FAILED',
          error: `boom ${step.b}`,
          ...(step.b % 2 === 0 ? { output: null, outputBytes: 0 } : { output, outputBytes: toldBytes(step, output) }),
          ...ending,
        };
      case 'time-out':
        return { kind: 'finish', ...proof, state: 'TIMED_OUT', error: 'slow', output, outputBytes: 9, ...ending };
      case 'give-up':
      case 'give-back': {
        const isCharged = does === 'give-up';
        return { kind: 'give-up', ...proof, reason: 'lost', isCharged, logTail: [], fraction: step.chance };
      }
      case 'let-go':
        return { kind: 'let-go', ...proof, agoMs: step.b, logTail: ['last words'] };
    }
  }

  #submit(jobs: readonly JobWish[], more: Partial<SubmitCommand>): EndpointCommand {
    for (const { jobId } of jobs) if (!this.jobIds.includes(jobId)) this.jobIds.push(jobId);
    const bounds = { ...ENDPOINT_BOUNDS_DEFAULT, livingJobs: 12 };
    const command: SubmitCommand = { kind: 'submit', sentAtMs: 0, jobs, key: null, takers: [], bounds, ...more };
    this.#submits.push(command);
    return command;
  }

  /**
   * Any piece of a request that is new or came before, as one router sends it or another one under ids of its own; now and
   * then another request under the key.
   */
  #submitKeyed(step: Step, sentAtMs: number): EndpointCommand {
    const { a, b } = step;
    const request = this.#keyed[b % 3] ?? this.#nameRequest(step);
    const { firstIds, name, size } = request;
    const firstId = firstIds[(a + b) % 4 === 3 ? 1 : 0] as JobId;
    const item = (a * b) % 3 === 0 ? 0 : a % size;
    const count = b % 5 === 0 ? size - item : 1 + (b % (size - item));
    const jobs = Array.from({ length: count }, (_, at) => {
      const jobId = itemJobId({ firstId, size }, item + at);
      return { ...this.#wish({ ...step, a: a + at }), jobId };
    });
    const fingerprint = a % 17 === 0 ? 'another' : 'body';
    return this.#submit(jobs, { sentAtMs, key: { name, fingerprint, firstId, size, item } });
  }

  #nameRequest({ a }: Step): NamedRequest {
    const firstIds = ['k', 'o'].map((router) => `${router}${(this.#count += 1)}-0000` as JobId);
    const request = { name: `key-${this.#keyed.length}`, firstIds, size: 1 + (a % 5) };
    this.#keyed.push(request);
    return request;
  }

  #take({ a, b }: Step): TakeWish {
    const takeId = `take-${(this.#count += 1)}`;
    const wish: TakeWish = {
      takeId,
      hostId: `h${b % 2}` as HostId,
      workerId: `w${b % 3}` as WorkerId,
      slots: 1 + (a % 3),
      secret: `t${this.#count}`,
    };
    this.#takes.push(wish);
    return wish;
  }

  /** Now and then too large to be kept in memory. */
  #payload({ a, b }: Step): { readonly kind: 'inline'; readonly json: ReturnType<typeof encodeJson> } {
    return { kind: 'inline', json: encodeJson({ a, text: 'é'.repeat(b % 4 === 0 ? 400 : 3) }) };
  }

  #wish(step: Step): JobWish {
    const { a, b } = step;
    const input = this.#payload(step);
    return {
      jobId: `j${(this.#count += 1)}` as JobId,
      origin: a % 3 === 0 ? 'runsync' : 'run',
      retentionMs: a % 3 === 0 ? 60_000 : 1_800_000,
      executionTimeoutMs: a % 4 === 0 ? 5_000 : 600_000,
      isLowPriority: b % 3 === 0,
      webhook: b % 4 < 2 ? 'https://example.com/hook' : null,
      bodyBytes: toldBytes(step, input),
      ttlMs: a % 5 === 0 ? 10_000 + 40 * b : 86_400_000,
      body: { input, extras: encodeJson({}), sealedExtras: null, traceparent: null },
    };
  }
}

/** Now and then so many that they lie beside the log. */
const toldBytes = ({ a, b }: Step, { json }: { readonly json: string }): number =>
  (a + b) % 5 === 0 ? BESIDE_BYTES : json.length;

const BESIDE_BYTES = 70_000;

const pick = <T>(items: readonly T[], at: number): T | undefined => items[at % Math.max(1, items.length)];
