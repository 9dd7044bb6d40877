import {
  PlatformError,
  type Affinity,
  type CandidateWorker,
  type Held,
  type NoWorkerReason,
  type WorkerId,
  type WorkerRefusal,
} from '@berth/domain';
import type { LinkAnswer, LinkStream, LinkTarget } from '@berth/tunnel';

/** A request that wants a worker. */
export interface PlaceWish {
  readonly affinity: Affinity;
  /** Of its head. */
  readonly bytes: number;
  /** It wakes nobody and waits for nobody: a worker takes it now, or it fails. */
  readonly isPassing: boolean;
  /** Its caller showed a key of the endpoint, and may read of its hosts. */
  readonly isKeyed: boolean;
  /** Its caller has gone. */
  readonly gone: AbortSignal;
  /** Of one that is recorded: told of each worker that is asked for it, and then of its answer. Null: it is not. */
  readonly noteAsk: ((target: LinkTarget) => (answer: LinkAnswer) => void) | null;
}

/** A worker that has taken the request. It has it until the stream has closed. */
export interface Place {
  readonly worker: CandidateWorker;
  readonly stream: LinkStream;
}

/** Null: the caller went away before. */
export type PlaceOutcome = Place | null;

/** A wish in line. */
export interface Waiter extends Held, PlaceWish {
  /** Unix. */
  readonly sinceUnixMs: number;
  /** What the last worker said that was asked. */
  lastRefusal: WorkerRefusal | null;
  /** What it takes of its account's share because it waits is given back. Absent: nothing. */
  endHold?: () => void;
  readonly settle: (outcome: PlaceOutcome | PlatformError) => void;
}

/** Whether it would go to this worker if it may. */
export const wants = ({ affinity, isPassing }: Waiter, id: WorkerId): boolean =>
  !isPassing && (affinity.kind !== 'only' || affinity.workerId === id);

/** When a new try makes sense: a worker that starts takes some seconds, if not more. */
const RETRY_AFTER_SECONDS = 5;

export const wantedGone = (): PlatformError =>
  new PlatformError(
    'affinity-worker-gone',
    'The worker that the request wants is no worker of this endpoint any more.',
  );

export const tooManyHeld = (): PlatformError =>
  new PlatformError('too-many-held-requests', 'As many requests as may be wait for a worker of this endpoint.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });

export const tooManyOfAccount = (): PlatformError =>
  new PlatformError(
    'too-many-held-requests',
    'The account has as many requests at this router, waiting or with workers, as is its share.',
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );

export const endpointGone = (): PlatformError => new PlatformError('endpoint-not-found', 'No such endpoint.');

export const isStopping = (): PlatformError => noWorker('This router is being stopped.');

/**
 * The request has waited for as long as it may, or may not wait.
 *
 * @param why what is known of the endpoint's workers; null: no more than the reason
 */
export function noPlace(
  { affinity, isPassing, lastRefusal }: Waiter,
  reason: NoWorkerReason,
  why: string | null,
): PlatformError {
  if (affinity.kind === 'only' && !isPassing) {
    return new PlatformError('affinity-worker-timeout', 'timed out waiting for worker');
  }
  if (lastRefusal === 'timed-out' && !isPassing) {
    return new PlatformError('worker-connect-timeout', 'The workers of this endpoint could not be reached in time.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
  const said = reason === 'all-busy' ? 'All workers of this endpoint are busy' : 'No worker of this endpoint is up';
  return noWorker(why === null ? `${said}.` : `${said}: ${why}.`);
}

const noWorker = (detail: string): PlatformError =>
  new PlatformError('no-worker-available', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
