import { ENDPOINT_BOUNDS_DEFAULT } from '../../src/endpoint-jobs/bounds.js';
import type { TouchedJob } from '../../src/endpoint-jobs/apply/touched-job.js';
import type { AttemptProof, CommandAnswer, EndpointCommand, JobWish } from '../../src/endpoint-jobs/commands.js';
import type { EndpointState } from '../../src/endpoint-jobs/state.js';
import type { HostId, JobId, WorkerId } from '../../src/ids.js';
import { encodeJson } from '../../src/json/index.js';
import { OwnedLog } from './owned-log.js';

const T0 = 1_800_000_000_000;

interface TakenBy {
  readonly hostId: HostId;
  readonly workerId: WorkerId;
}

const PLACE: TakenBy = { hostId: 'h1' as HostId, workerId: 'w1' as WorkerId };

/** A command without what every caller says alike. */
type Asked = EndpointCommand extends infer Each
  ? Each extends EndpointCommand
    ? Omit<Each, 'sentAtMs'>
    : never
  : never;

/** One endpoint in the hands of a test: a clock that it turns, and the words of callers and of one host. */
export class Scene {
  readonly touched: TouchedJob[] = [];
  readonly log = new OwnedLog({ onFact: (_, touched) => this.touched.push(...touched) });
  nowMs = T0;
  #count = 0;

  constructor() {
    this.ask({ kind: 'open', routerId: 'r1' });
  }

  get state(): EndpointState {
    return this.log.state;
  }

  ask(command: Asked): CommandAnswer {
    return this.log.performCommand({ sentAtMs: this.nowMs, ...command } as EndpointCommand, this.nowMs);
  }

  pass(ms: number): void {
    this.nowMs += ms;
  }

  wish(more: Partial<JobWish> = {}): JobWish {
    return {
      jobId: `job-${(this.#count += 1)}` as JobId,
      origin: 'run',
      retentionMs: 1_800_000,
      executionTimeoutMs: 600_000,
      isLowPriority: false,
      webhook: null,
      bodyBytes: 2,
      ttlMs: 86_400_000,
      body: {
        input: { kind: 'inline', json: encodeJson({}) },
        extras: encodeJson({}),
        sealedExtras: null,
        traceparent: null,
      },
      ...more,
    };
  }

  submit(more: Partial<JobWish> = {}): JobId {
    const wish = this.wish(more);
    this.submitAll([wish]);
    return wish.jobId;
  }

  submitAll(jobs: readonly JobWish[], bounds = ENDPOINT_BOUNDS_DEFAULT): CommandAnswer {
    return this.ask({ kind: 'submit', jobs, key: null, takers: [], bounds });
  }

  take(slots = 1, { hostId, workerId }: TakenBy = PLACE): readonly AttemptProof[] {
    const takeId = `take-${(this.#count += 1)}`;
    const answer = this.ask({ kind: 'take', wishes: [{ takeId, hostId, workerId, slots, secret: `s${this.#count}` }] });
    if (answer.kind !== 'takes') throw new Error(answer.kind);
    return (answer.takes[0]?.jobs ?? []).map((given) => ({ ...given, hostId }));
  }

  takeOne(by: TakenBy = PLACE): AttemptProof {
    const [proof] = this.take(1, by);
    if (proof === undefined) throw new Error('nothing waits');
    return proof;
  }

  finish(proof: AttemptProof, state: 'COMPLETED' | 'FAILED' | 'TIMED_OUT', error: string | null = null): CommandAnswer {
    const shown = { output: null, outputBytes: 0, chunks: 0, logTail: [] };
    return this.ask({ kind: 'finish', ...proof, state, error, ...shown });
  }

  giveUp(proof: AttemptProof, isCharged: boolean, reason = 'crash'): CommandAnswer {
    return this.ask({ kind: 'give-up', ...proof, reason, isCharged, logTail: [], fraction: 0.5 });
  }

  retry(jobId: JobId, retryId = `retry-${(this.#count += 1)}`): CommandAnswer {
    return this.ask({ kind: 'retry', jobId, retryId });
  }

  purge(purgeId = `purge-${(this.#count += 1)}`): CommandAnswer {
    return this.ask({ kind: 'purge', purgeId });
  }

  look(): CommandAnswer {
    return this.ask({ kind: 'look', fraction: 0.5 });
  }

  stateOf(jobId: JobId): string {
    return this.state.jobs.get(jobId)?.data.state ?? 'gone';
  }
}
