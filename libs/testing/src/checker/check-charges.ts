import type { BrokenPromise } from './check-history.js';

/** What was done to the host's side of a job. Unix ms; one that is killed is noticed within a moment. */
export interface HostFault {
  /** Null: it was the agent, and so every worker's. */
  readonly workerId: string | null;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** What a job was charged, and what the service tells of its attempts. */
export interface ChargedJob {
  readonly jobId: string;
  /** Attempts that count as tried. */
  readonly charged: number;
  readonly attempts: readonly {
    readonly workerId: string;
    readonly outcome: string;
    readonly startedAtMs: number;
    readonly endedAtMs: number;
  }[];
}

/** A job pays for a worker or a host that died or stood still while it ran there, and for nothing else. */
export function checkCharges(job: ChargedJob, faults: readonly HostFault[]): readonly BrokenPromise[] {
  const { attempts, charged, jobId } = job;
  const lost = attempts.filter(({ outcome }) => outcome === 'lost');
  const paid = lost.filter((attempt) => faults.some((fault) => hits(fault, attempt)));
  if (charged <= paid.length) return [];
  const detail = `charged ${charged} of ${lost.length} lost attempts, of which ${paid.length} lost their worker or host`;
  return [{ promise: 'charged-for-a-fault-of-ours', jobId, detail }];
}

const hits = (fault: HostFault, attempt: ChargedJob['attempts'][number]): boolean =>
  (fault.workerId === null || fault.workerId === attempt.workerId) &&
  attempt.startedAtMs <= fault.untilMs &&
  fault.fromMs <= attempt.endedAtMs;
