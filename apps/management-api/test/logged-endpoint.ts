import {
  ENDPOINT_BOUNDS_DEFAULT,
  describeJob,
  encodeJson,
  newEndpointState,
  performCommand,
  type AccountId,
  type AttemptProof,
  type CommandOutcome,
  type EndpointCommand,
  type EndpointId,
  type HostId,
  type JobDetail,
  type JobId,
  type LogFact,
  type WorkerId,
} from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import type { NatsLogBroker } from '@berth/messaging';
import { expect } from '@jest/globals';
import type { JobHistoryStore } from '../src/job-history/job-history.store.js';

type LogBatch = Parameters<NatsLogBroker['append']>[0];

/** Beside every batch: nobody here reads it. */
const INDEX: LogBatch['index'] = {
  dueAtMs: null,
  waitingNormal: 0,
  waitingLow: 0,
  oldestQueuedAtMs: null,
  running: 0,
  runningLow: 0,
  living: 0,
};
const HOST = 'h1' as HostId;

export type JobStep =
  'take' | 'complete' | 'fail' | 'time-out' | 'cancel' | 'give-back' | 'lose' | 'let-go' | 'retry' | 'purge';

/** What becomes of jobs, one story for each. */
export const JOB_STORIES: readonly (readonly JobStep[])[] = [
  [],
  ['take'],
  ['take', 'complete'],
  ['take', 'fail'],
  ['take', 'time-out'],
  ['take', 'time-out', 'let-go'],
  ['cancel'],
  ['take', 'cancel'],
  ['take', 'cancel', 'let-go'],
  ['take', 'give-back'],
  ['take', 'give-back', 'take', 'lose', 'take', 'complete'],
  ['take', 'lose', 'take', 'lose', 'take', 'lose'],
  ['take', 'give-back', 'cancel'],
  ['take', 'fail', 'retry'],
  ['take', 'fail', 'retry', 'take', 'complete'],
  ['take', 'time-out', 'let-go', 'retry', 'take', 'time-out'],
  ['take', 'fail', 'retry', 'purge'],
];

/** Of every job the history tells what its owner told of its end, and nothing of one that has not ended. */
export async function expectHistoryEqualsOwners(
  history: JobHistoryStore,
  accountId: AccountId,
  endpoints: readonly LoggedEndpoint[],
): Promise<void> {
  const statuses = ['COMPLETED', 'FAILED', 'CANCELLED', 'TIMED_OUT'] as const;
  for (const { endpointId, jobIds, told } of endpoints) {
    for (const jobId of jobIds) {
      expect(await history.find({ accountId, endpointId, jobId })).toEqual(told.get(jobId) ?? null);
    }
    const listed = await history.list({ accountId, endpointId, statuses, before: null, limit: 101 });
    expect(listed.map(({ jobId }) => jobId).toSorted()).toEqual([...told.keys()].toSorted());
  }
}

/** The jobs of one endpoint as its owner has them, decided by the real rules, and their log at a real broker. */
export class LoggedEndpoint {
  readonly endpointId: EndpointId;
  /** What was told of each job that has ended, until it is queued again; also of those that are gone. */
  readonly told = new Map<JobId, JobDetail>();
  readonly jobIds: JobId[] = [];
  nowMs: number;
  readonly #state = newEndpointState(0);
  readonly #broker: NatsLogBroker;
  #proof: AttemptProof | null = null;
  #after = 0;

  constructor(
    broker: NatsLogBroker,
    { endpointId, nowMs }: { readonly endpointId: EndpointId; readonly nowMs: number },
  ) {
    this.#broker = broker;
    this.endpointId = endpointId;
    this.nowMs = nowMs;
  }

  /** Sequence of the newest batch. */
  get sequence(): number {
    return this.#after;
  }

  async submit(...steps: readonly JobStep[]): Promise<JobId> {
    const jobId = systemRandom.uuid() as JobId;
    this.jobIds.push(jobId);
    const body = {
      input: { kind: 'inline', json: encodeJson({ secret: 'input' }) },
      extras: encodeJson({}),
      sealedExtras: null,
      traceparent: null,
    } as const;
    const job = { jobId, origin: 'run', ttlMs: 3_600_000, retentionMs: 1_800_000, isLowPriority: false, body } as const;
    const wish = { ...job, executionTimeoutMs: 600_000, bodyBytes: 2, webhook: 'https://me:secret@example.com/secret' };
    const bounds = ENDPOINT_BOUNDS_DEFAULT;
    await this.#ask({ kind: 'submit', sentAtMs: this.nowMs, jobs: [wish], key: null, takers: [], bounds });
    for (const step of steps) await this.act(jobId, step);
    return jobId;
  }

  /** What happens to a job, or to its last attempt. Each takes a moment. */
  async act(jobId: JobId, step: JobStep): Promise<void> {
    this.nowMs += 25;
    const { nowMs: sentAtMs } = this;
    switch (step) {
      case 'take': {
        const takeId = systemRandom.id(12);
        const wish = { takeId, hostId: HOST, workerId: 'w1' as WorkerId, slots: 1, secret: takeId };
        const answer = await this.#ask({ kind: 'take', sentAtMs, wishes: [wish] });
        const given = answer.kind === 'takes' ? answer.takes[0]?.jobs[0] : undefined;
        if (given?.jobId !== jobId) throw new Error(`another job was taken: ${JSON.stringify(answer)}`);
        this.#proof = { ...given, hostId: HOST };
        return;
      }
      case 'complete':
        return this.#finish({ state: 'COMPLETED', error: null });
      case 'fail':
        return this.#finish({ state: 'FAILED', error: 'it\0broke' });
      case 'time-out':
        return this.#finish({ state: 'TIMED_OUT', error: 'executionTimeout exceeded' });
      case 'give-back':
      case 'lose': {
        const loss = { reason: 'worker lost', isCharged: step === 'lose', logTail: ['last words'], fraction: 0.5 };
        await this.#ask({ kind: 'give-up', ...this.#held(), ...loss });
        this.nowMs += 60_000;
        return;
      }
      case 'let-go':
        await this.#ask({ kind: 'let-go', ...this.#held(), agoMs: 5, logTail: ['let go'] });
        return;
      case 'cancel':
        await this.#ask({ kind: 'cancel', sentAtMs, jobId });
        return;
      case 'retry':
        await this.#ask({ kind: 'retry', sentAtMs, jobId, retryId: systemRandom.id(12) });
        this.nowMs += 60_000;
        return;
      case 'purge':
        await this.#ask({ kind: 'purge', sentAtMs, purgeId: systemRandom.id(12) });
        return;
      default:
        step satisfies never;
    }
  }

  /** Stores what no owner would write. */
  async write(text: string): Promise<void> {
    await this.#append(text);
  }

  async #finish(end: {
    readonly state: 'COMPLETED' | 'FAILED' | 'TIMED_OUT';
    readonly error: string | null;
  }): Promise<void> {
    const shown = { output: { kind: 'inline', json: encodeJson('secret') }, outputBytes: 8, chunks: 0 } as const;
    await this.#ask({ kind: 'finish', ...this.#held(), ...end, ...shown, logTail: ['bye'] });
  }

  #held(): AttemptProof {
    if (this.#proof === null) throw new Error('nothing was taken');
    return this.#proof;
  }

  async #ask(command: EndpointCommand): Promise<CommandOutcome> {
    const facts: LogFact[] = [];
    const place = { sequence: null as number | null };
    const write = (fact: LogFact): typeof place => {
      facts.push(fact);
      return place;
    };
    for (;;) {
      const performed = performCommand(this.#state, command, { nowMs: this.nowMs, write });
      if (performed.kind === 'illegal') throw new Error(JSON.stringify(performed));
      for (const { jobId } of performed.touched) this.#note(jobId);
      if (performed.kind === 'again') continue;
      if (facts.length > 0) place.sequence = await this.#append(facts.map((fact) => encodeJson(fact)).join('\n'));
      return performed.answer;
    }
  }

  #note(jobId: JobId): void {
    const data = this.#state.jobs.get(jobId)?.data;
    if (data === undefined) return;
    this.told.delete(jobId);
    if (data.endedAtMs !== null) this.told.set(jobId, describeJob(data, data.endedAtMs));
  }

  async #append(text: string): Promise<number> {
    const { endpointId } = this;
    const batch = { endpointId, after: this.#after, batchId: systemRandom.uuid(), index: INDEX };
    const outcome = await this.#broker.append({ ...batch, facts: new TextEncoder().encode(text) });
    if (outcome.kind !== 'stored') throw new Error(JSON.stringify(outcome));
    this.#after = outcome.sequence;
    return outcome.sequence;
  }
}
