import {
  ENDPOINT_BOUNDS_DEFAULT,
  NOTHING_UNREAD,
  encodeJson,
  viewJob,
  type AttemptProof,
  type CommandOutcome,
  type EndpointCommand,
  type EndpointId,
  type HostId,
  type JobId,
  type PurgeableDecision,
  type SeenJob,
  type TouchedJob,
  type WorkerId,
} from '@berth/domain';
import { LogOwner, type EndpointEvent, type LogBroker, type OpenLog, type SettledAnswer } from '@berth/endpoint-log';
import { atEndOfTurn, systemRandom } from '@berth/lifecycle';
import type { ManualClock } from '@berth/testing';
import { logShard } from '../../src/topology/shards.js';

const HOST = 'h1' as HostId;

export const endpointCalled = (name: string): EndpointId => `${name}${systemRandom.id(8)}` as EndpointId;

interface SubmissionMembers {
  readonly input?: unknown;
  readonly ttlMs?: number | undefined;
  readonly webhook?: string | null;
}

/** A job request as it comes from an edge. */
export function submissionAt(
  sentAtMs: number,
  jobId: JobId,
  { input = {}, ttlMs = 86_400_000, webhook = null }: SubmissionMembers = {},
): EndpointCommand {
  const json = encodeJson(input);
  const body = {
    input: { kind: 'inline', json },
    extras: encodeJson({}),
    sealedExtras: null,
    traceparent: null,
  } as const;
  const job = {
    jobId,
    ttlMs,
    body,
    bodyBytes: json.length,
    webhook,
    isLowPriority: false,
    origin: 'run',
  } as const;
  return {
    kind: 'submit',
    sentAtMs,
    jobs: [{ ...job, retentionMs: 60_000, executionTimeoutMs: 600_000 }],
    key: null,
    takers: [],
    bounds: ENDPOINT_BOUNDS_DEFAULT,
  };
}

/** A router as far as the logs of its endpoints go. */
export class OwnerScene {
  readonly owner: LogOwner;
  readonly events: EndpointEvent[] = [];
  readonly touched: TouchedJob[] = [];
  /** Endpoints of which deliveries were said to be due, each time once. */
  readonly deliveriesDue: EndpointId[] = [];
  isTrusted = true;
  /** As far as the job history is concerned. */
  purgeable: PurgeableDecision = NOTHING_UNREAD;
  readonly #clock: ManualClock;

  constructor(broker: LogBroker, { clock, routerId }: { readonly clock: ManualClock; readonly routerId: string }) {
    this.#clock = clock;
    this.owner = new LogOwner({
      routerId,
      broker,
      clock,
      random: systemRandom,
      atEndOfTurn,
      shardOf: logShard,
      trusts: () => this.isTrusted,
      purgeable: () => this.purgeable,
      onTouched: (_, touched) => this.touched.push(...touched),
      onDeliveriesDue: (endpointId) => this.deliveriesDue.push(endpointId),
      onLooked: () => undefined,
      onEvent: (event) => this.events.push(event),
    });
  }

  take(endpointId: EndpointId): Promise<void> {
    return this.owner.take(logShard(endpointId));
  }

  kindsOf(endpointId: EndpointId): readonly string[] {
    return this.events.filter((event) => event.endpointId === endpointId).map(({ kind }) => kind);
  }

  perform(endpointId: EndpointId, command: EndpointCommand): Promise<Told<CommandOutcome>> {
    return this.#ask(endpointId, (log, told) => log.perform(command, told));
  }

  status(endpointId: EndpointId, jobId: JobId): Promise<Told<SeenJob | null>> {
    return this.#ask(endpointId, (log, told) =>
      log.read((state, atMs) => viewJob(state, { endpointId, jobId }, atMs), told),
    );
  }

  async submit(endpointId: EndpointId, ttlMs?: number, input?: unknown): Promise<JobId> {
    const jobId = systemRandom.uuid() as JobId;
    const told = await this.perform(endpointId, this.submission(jobId, ttlMs, input));
    if (told.kind !== 'settled') throw new Error(told.kind);
    return jobId;
  }

  /** A job whose end a webhook is to be told. */
  async submitTold(endpointId: EndpointId, webhook: string): Promise<void> {
    const told = await this.perform(
      endpointId,
      submissionAt(this.#clock.nowMs(), systemRandom.uuid() as JobId, { webhook }),
    );
    if (told.kind !== 'settled') throw new Error(told.kind);
  }

  submission(jobId: JobId, ttlMs?: number, input?: unknown): EndpointCommand {
    return submissionAt(this.#clock.nowMs(), jobId, { ttlMs, input });
  }

  async takeJob(endpointId: EndpointId): Promise<AttemptProof> {
    const takeId = systemRandom.id(20);
    const wish = { takeId, hostId: HOST, workerId: 'w1' as WorkerId, slots: 1, secret: takeId };
    const told = await this.perform(endpointId, { kind: 'take', sentAtMs: this.#clock.nowMs(), wishes: [wish] });
    const given = told.kind === 'settled' && told.answer.kind === 'takes' ? told.answer.takes[0]?.jobs[0] : undefined;
    if (given === undefined) throw new Error(`nothing was taken: ${JSON.stringify(told)}`);
    return { ...given, hostId: HOST };
  }

  finish(endpointId: EndpointId, proof: AttemptProof): Promise<Told<CommandOutcome>> {
    const output = { kind: 'inline', json: encodeJson('done') } as const;
    const result = { state: 'COMPLETED', error: null, output, outputBytes: 6, chunks: 0, logTail: [] } as const;
    return this.perform(endpointId, { kind: 'finish', ...proof, ...result });
  }

  #ask<Answer>(
    endpointId: EndpointId,
    use: (log: OpenLog, told: (outcome: SettledAnswer<Answer>) => void) => void,
  ): Promise<Told<Answer>> {
    return new Promise((resolve) => {
      this.owner.ask(endpointId, {
        use: (log) => use(log, resolve),
        refuse: (reason) => resolve({ kind: 'refused', reason }),
      });
    });
  }
}

export type Told<Answer> = SettledAnswer<Answer> | { readonly kind: 'refused'; readonly reason: string };
