import type { HostId, WorkerId } from '../ids.js';
import type { DrainReason, GoneReason, Worker, WorkerIntent } from '../worker/index.js';

/** One change of one worker, and why. */
export type FleetOperation =
  /** Place it: the worker as it shall be. */
  | {
      readonly kind: 'create-worker';
      readonly worker: Worker;
      readonly reason: 'wanted';
      /** The storage on which its network volume lies from now on; absent where it has none. */
      readonly storageId?: string;
    }
  /** No new job, then gone: at once, or as long after its last job as is named here. */
  | (OfWorker & {
      readonly kind: 'drain-worker';
      readonly reason: DrainReason | 'evicted' | 'failing-host' | 'flashboot-off';
      readonly leavesAfterIdleMs: number | null;
      /** The reason as a sentence without its full stop; absent where the reason says it all. */
      readonly detail?: string;
    })
  /** No job for now, and frozen as long after its last one as is named here. */
  | (OfWorker & { readonly kind: 'pause-worker'; readonly reason: 'scale-down'; readonly pausesAfterIdleMs: number })
  /** Drained for want of jobs and still there, or paused; and wanted again. */
  | (OfWorker & { readonly kind: 'resume-worker'; readonly reason: 'wanted' })
  /** Nothing runs there any more, or nobody can tell: delete the assignment, if its host is as silent as it was. */
  | (OfWorker & {
      readonly kind: 'forget-worker';
      readonly reason: GoneReason;
      /** Last report of its host that the judgement knew of. */
      readonly hostLastSeenAtMs: number | null;
    })
  /** It fails where it is, and stays there because of this; null: nothing keeps it there any more. */
  | (OfWorker & { readonly kind: 'note-stay'; readonly because: string | null });

interface OfWorker {
  readonly workerId: WorkerId;
  readonly hostId: HostId;
}

export const workerIdOf = (operation: FleetOperation): WorkerId =>
  operation.kind === 'create-worker' ? operation.worker.id : operation.workerId;

export const hostIdOf = (operation: FleetOperation): HostId =>
  operation.kind === 'create-worker' ? operation.worker.hostId : operation.hostId;

/** The workers of an endpoint after one more operation. */
export function withOperation(workers: readonly Worker[], operation: FleetOperation): readonly Worker[] {
  switch (operation.kind) {
    case 'create-worker':
      return [...workers, operation.worker];
    case 'drain-worker':
      return changed(workers, operation.workerId, (worker) => intended(worker, 'drained', operation.leavesAfterIdleMs));
    case 'pause-worker':
      return changed(workers, operation.workerId, (worker) => intended(worker, 'paused', operation.pausesAfterIdleMs));
    case 'resume-worker':
      return changed(workers, operation.workerId, (worker) => intended(worker, 'running', null));
    case 'forget-worker':
      return workers.filter(({ id }) => id !== operation.workerId);
    case 'note-stay':
      return changed(workers, operation.workerId, (worker) => withStay(worker, operation.because));
    default:
      return operation satisfies never;
  }
}

const changed = (workers: readonly Worker[], id: WorkerId, change: (worker: Worker) => Worker): readonly Worker[] =>
  workers.map((worker) => (worker.id === id ? change(worker) : worker));

function intended({ leavesAfterIdleMs: _, ...worker }: Worker, intent: WorkerIntent, afterMs: number | null): Worker {
  return { ...worker, intent, ...(afterMs === null ? {} : { leavesAfterIdleMs: afterMs }) };
}

function withStay({ staysBecause: _, ...worker }: Worker, because: string | null): Worker {
  return because === null ? worker : { ...worker, staysBecause: because };
}
