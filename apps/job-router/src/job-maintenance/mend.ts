import { isUnreadable, type Job } from '@berth/domain';
import { isUnavailable } from '../patiently.js';

/** What maintenance may find and mend. In steady state each stays at zero. */
type Finding =
  | 'ticket-missing'
  | 'lease-expired'
  | 'lease-missing'
  | 'deadline-passed'
  | 'expired-running'
  | 'expired-queued'
  | 'ticket-orphaned'
  | 'attachment-orphaned'
  | 'attempt-superseded'
  | 'endpoint-deleted';

/** Told of what was mended and of what could not be. */
export interface MaintenanceObserver {
  mended(finding: Finding, about: Pick<Job, 'endpointId'> & { readonly jobId: string }): void;
  failed(loop: string, error: unknown): void;
}

/** Items mended in one pass; the next pass goes on. */
export const PASS_MAX = 500;
const PARALLEL = 16;

/**
 * Does `action` for each item, some side by side, at most `PASS_MAX`. One item that fails does not keep the others from
 * being mended, but a store that does not answer ends the pass.
 *
 * @returns those whose record cannot be read: nothing can be mended by looking at them again
 */
export async function mendEach<T>(
  items: readonly T[],
  { loop, observer, signal }: { loop: string; observer: MaintenanceObserver; signal: AbortSignal },
  action: (item: T) => Promise<void>,
): Promise<readonly T[]> {
  const unreadable: T[] = [];
  const attempt = async (item: T): Promise<void> => {
    try {
      await action(item);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      observer.failed(loop, error);
      if (isUnreadable(error)) unreadable.push(item);
    }
  };
  for (let from = 0; from < Math.min(items.length, PASS_MAX) && !signal.aborted; from += PARALLEL) {
    await Promise.all(items.slice(from, Math.min(from + PARALLEL, PASS_MAX)).map(attempt));
  }
  return unreadable;
}
