import type { WorkerSession, WorkerView } from './worker-view.js';

/** A worker that was found again, is ready and has no job in hand has called its bridge by then: SDKs poll without end. */
const ADOPTED_SILENCE_MS = 60_000;

const MOVED = 'the address of the bridge has changed since the worker was started';
const SILENT = 'the worker has not called the bridge since its agent was restarted';

/** That a worker's calls do not reach this agent: such a worker would stay idle for ever while its jobs wait. */
interface CutOff {
  /** The instant from which it counts. */
  readonly fromMs: number;
  /** For people. */
  readonly reason: string;
}

/**
 * Null while nothing speaks for it. A load-balanced worker calls nobody, one with a job in hand may be silent until it
 * has finished, and one that was never ready is judged by its initialization time.
 */
export function findCutOff({ desired, session }: WorkerView): CutOff | null {
  if (session === null || desired?.endpointType !== 'QUEUE') return null;
  if (!session.knowsBridge) return { fromMs: session.openedAtMs, reason: MOVED };
  const mustCall = session.isAdopted && session.readyAtMs !== null && session.runningJobs === 0;
  return mustCall && !session.hasCalled ? { fromMs: session.openedAtMs + ADOPTED_SILENCE_MS, reason: SILENT } : null;
}

/** Whether a job that it finishes will be heard of. An address that has changed may still lead here. */
export const canReport = ({ knowsBridge, hasCalled }: WorkerSession): boolean => knowsBridge || hasCalled;
