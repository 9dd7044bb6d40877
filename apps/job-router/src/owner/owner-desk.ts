import {
  jobAttributes,
  type AnswerOf,
  type EndpointSnapshot,
  type HoldAnswer,
  type OwnerCommand,
  type OwnerVerb,
  type QuestionOf,
} from '@berth/contracts';
import {
  effectiveLimits,
  endpointBounds,
  viewBody,
  viewDeliveries,
  viewDescription,
  viewHealth,
  viewHold,
  viewJob,
  viewJobs,
  type AccountLimits,
  type BlobManifest,
  type CommandOutcome,
  type EndpointCommand,
  type EndpointId,
  type HeldAttempt,
  type HeldPayload,
  type JobBody,
  type SeenJob,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { duringStep, type Traces } from '@berth/telemetry';
import type { EndpointDirectory } from '../directory/index.js';
import { isUnavailable } from '../owners/index.js';
import type { ChunkQuotas } from './logs/chunk-quotas.js';
import type { EndpointLogs, Said } from './logs/endpoint-logs.js';
import { fittingSlice } from './takes/fitting-slice.js';
import type { WaitingTakes } from './takes/waiting-takes.port.js';
import type { JobWatchers } from './effects/job-watchers.js';
import type { LogPayloads } from './logs/log-payloads.js';
import { retryMoved } from './logs/retry-moved.js';

export interface OwnerDeskOptions {
  /** Of this router's shards. */
  readonly logs: EndpointLogs;
  /** Says of endpoints that were deleted what their logs would. */
  readonly deletedLogs: EndpointLogs;
  readonly endpoints: Pick<EndpointDirectory, 'snapshotOf'>;
  readonly payloads: Pick<LogPayloads, 'body' | 'output'>;
  readonly takes: WaitingTakes;
  readonly watchers: JobWatchers;
  readonly quotas: ChunkQuotas;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly traces: Pick<Traces, 'step'>;
}

/** An endpoint that is asked about. */
interface DeskEndpoint {
  readonly endpointId: EndpointId;
  readonly snapshot: EndpointSnapshot;
  readonly logs: EndpointLogs;
}

type Answers = {
  readonly [Verb in OwnerVerb]: (asked: DeskEndpoint, question: QuestionOf<Verb>) => Promise<Said<AnswerOf<Verb>>>;
};

/** Answers for the endpoints whose logs this router owns to its own edge and to other routers. */
export class OwnerDesk {
  readonly #options: OwnerDeskOptions;
  readonly #answers: Answers;

  constructor(options: OwnerDeskOptions) {
    this.#options = options;
    this.#answers = {
      perform: (asked, { command }) => this.#perform(asked, command),
      find: (asked, question) => this.#find(asked, question),
      describe: ({ endpointId, logs }, { jobId }) =>
        logs.read(endpointId, (state, atMs) => viewDescription(state, jobId, atMs)),
      list: (asked, question) => this.#list(asked, question),
      count: ({ endpointId, logs }) => logs.read(endpointId, viewHealth),
      deliveries: ({ endpointId, logs }, { jobId }) => logs.read(endpointId, (state) => viewDeliveries(state, jobId)),
      take: (asked, question) => this.#take(asked, question),
      'take-back': (asked, question) => this.#takeBack(asked, question),
      withdraw: async ({ endpointId }, worker) => {
        options.takes.withdraw(endpointId, worker);
        return { kind: 'answer', answer: null };
      },
      renew: ({ endpointId, logs }, { proofs }) => logs.renew(endpointId, proofs),
      hold: (asked, question) => this.#hold(asked, question),
    };
  }

  /** Never rejects for a broker that does not answer: that is silence, too. */
  async answer<Verb extends OwnerVerb>(
    endpointId: EndpointId,
    verb: Verb,
    question: QuestionOf<Verb>,
  ): Promise<Said<AnswerOf<Verb>>> {
    try {
      const { deletedLogs, endpoints, logs } = this.#options;
      const snapshot = await endpoints.snapshotOf(endpointId);
      // The asking router has let its caller to the endpoint: perhaps only this one has not heard of it yet.
      if (snapshot === null) return 'silent';
      const asked = { endpointId, snapshot, logs: snapshot.isDeleted ? deletedLogs : logs };
      return await this.#answers[verb](asked, question);
    } catch (error) {
      if (isUnavailable(error)) return 'silent';
      throw error;
    }
  }

  #perform({ endpointId, logs, snapshot }: DeskEndpoint, command: OwnerCommand): Promise<Said<CommandOutcome>> {
    const { traces } = this.#options;
    const perform = () => logs.perform(endpointId, this.#whole(snapshot, command));
    if (command.kind !== 'submit') return perform();
    // Of a batch all jobs came with one request.
    const [job] = command.jobs;
    const step = { name: 'commit job', attributes: jobAttributes({ endpointId, ...(job && { jobId: job.jobId }) }) };
    return duringStep(traces.step(job?.body.traceparent), step, perform);
  }

  /** With what only the owner knows. A clock ahead of this one must not make a command younger than it is. */
  #whole(snapshot: EndpointSnapshot, command: OwnerCommand): EndpointCommand {
    const { clock, takes } = this.#options;
    const sent = 'sentAtMs' in command ? { sentAtMs: Math.min(command.sentAtMs, clock.nowMs()) } : {};
    if (command.kind !== 'submit') return { ...command, ...sent };
    const bounds = endpointBounds(limitsOf(snapshot));
    return { ...command, ...sent, takers: takes.waitingWishes(snapshot.id), bounds };
  }

  #find(
    { endpointId, logs }: DeskEndpoint,
    { jobId, wantsTrace = false, watcher }: QuestionOf<'find'>,
  ): Promise<Said<AnswerOf<'find'>>> {
    const { payloads, watchers } = this.#options;
    const key = { endpointId, jobId };
    // Also of a job that is not there: it may be on its way, and its sender waits for it already.
    if (watcher !== null) watchers.watch(key, watcher);
    return retryMoved(
      () =>
        logs.read(endpointId, (state, atMs) => {
          const seen = viewJob(state, key, atMs);
          return seen && { seen, body: wantsTrace ? viewBody(state, jobId) : null };
        }),
      async (found: { readonly seen: SeenJob; readonly body: HeldPayload<JobBody> | null } | null) => {
        if (found === null) return null;
        const output = await payloads.output(endpointId, found.seen.output);
        const body = found.body && (await payloads.body(endpointId, found.body));
        if (output === 'moved' || body === 'moved') return 'moved';
        return { ...found.seen, output, ...(body && { traceparent: body.traceparent }) };
      },
    );
  }

  async #list(
    { endpointId, logs }: DeskEndpoint,
    { statuses, ...query }: QuestionOf<'list'>,
  ): Promise<Said<AnswerOf<'list'>>> {
    const wanted = { ...query, statuses: new Set(statuses) };
    const said = await logs.read(endpointId, (state, atMs) => viewJobs(state, wanted, atMs));
    return said === 'silent' || said.kind === 'refused' ? said : { ...said, answer: fittingSlice(said.answer) };
  }

  async #take({ endpointId, snapshot }: DeskEndpoint, question: QuestionOf<'take'>): Promise<Said<AnswerOf<'take'>>> {
    if (snapshot.isDeleted) return { kind: 'answer', answer: [] };
    const jobs = await this.#options.takes.take(endpointId, question);
    return jobs === 'silent' ? jobs : { kind: 'answer', answer: jobs };
  }

  /**
   * Jobs that an asker was given and could not pass on are its worker's where the host has asked again by another way.
   */
  async #takeBack(
    asked: DeskEndpoint,
    { asker, command }: QuestionOf<'take-back'>,
  ): Promise<Said<AnswerOf<'take-back'>>> {
    if (!this.#options.takes.isLastAsker(asker)) return { kind: 'answer', answer: { kind: 'superseded' } };
    return this.#perform(asked, command);
  }

  #hold({ endpointId, logs, snapshot }: DeskEndpoint, { chunk, proof }: QuestionOf<'hold'>): Promise<Said<HoldAnswer>> {
    const { jobId, attempt } = proof;
    const { quotas, watchers } = this.#options;
    return retryMoved(
      () => logs.read(endpointId, (state) => viewHold(state, proof)),
      async (held: HeldAttempt | null): Promise<HoldAnswer | 'moved'> => {
        if (held === null) return { kind: 'superseded' };
        const input = await this.#inputOf(endpointId, held);
        if (input === 'moved') return input;
        const limits = limitsOf(snapshot);
        const streaming = { endpointId, jobId, attempt, accountId: snapshot.accountId };
        const full = chunk === null ? null : quotas.add(streaming, chunk, limits);
        if (full !== null) return { kind: 'full', ...full };
        const { createdAtMs } = held;
        return { kind: 'held', createdAtMs, input, watchers: watchers.of({ endpointId, jobId }, 'moved') };
      },
    );
  }

  async #inputOf(endpointId: EndpointId, { input }: HeldAttempt): Promise<BlobManifest | null | 'moved'> {
    if (input === null) return null;
    const body = await this.#options.payloads.body(endpointId, { value: null, reference: input });
    if (body === 'moved') return body;
    return body.input.kind === 'blob' ? body.input.manifest : null;
  }
}

/** By snapshot, which is another one after each change. */
const limits = new WeakMap<EndpointSnapshot, AccountLimits>();

function limitsOf(snapshot: EndpointSnapshot): AccountLimits {
  const known = limits.get(snapshot) ?? effectiveLimits(snapshot.limits ?? {});
  limits.set(snapshot, known);
  return known;
}
