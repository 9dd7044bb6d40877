import type { WorkerPhase } from '../worker/index.js';
import type { EndpointOutlook } from './endpoint-outlook.js';
import { explainQueue } from './explain-queue.js';
import { tallyWorkers } from './queue-view.js';

/** What a router knows of the endpoint of a request that it held. Instants are Unix ms. */
export interface HeldView {
  readonly sinceMs: number;
  readonly workersMax: number;
  readonly workers: readonly {
    readonly phase: WorkerPhase;
    readonly isDraining: boolean;
    readonly isPaused?: boolean;
  }[];
  /** Null where the control plane has said nothing. */
  readonly outlook: EndpointOutlook | null;
  /** Requests of the endpoint that workers have. */
  readonly inFlight: number;
  /** The control plane's last sign of life. */
  readonly controlHeardAtMs: number;
}

/**
 * Why no worker came for a request, as a job would hear it: the words of the reason, then the word for it. It may name hosts
 * and what workers said last, so it is for the endpoint's own people. Null: nothing is known but that it waits for one.
 */
export function explainHeld(view: HeldView, nowMs: number): string | null {
  const { controlHeardAtMs, inFlight, outlook, sinceMs, workers, workersMax } = view;
  const { detail, reason } = explainQueue(
    {
      job: { attempt: 1, isLowPriority: false, notBeforeMs: sinceMs, queuedAtMs: sinceMs },
      ...{ position: null, running: inFlight, endedLastMinute: 0, executionMsLastMinute: 0 },
      ...{ workersMax, outlook, controlHeardAtMs, workers: tallyWorkers(workers) },
    },
    nowMs,
  );
  return reason === 'waiting-for-worker' || reason === 'awaiting-decision' ? null : `${detail} (${reason})`;
}
