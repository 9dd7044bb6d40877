import { WORKER_REASON_CHARACTERS_MAX, cleanText, type LastFailure } from '@berth/domain';
import { RuntimeError, type RuntimeErrorReason } from '../runtimes/index.js';

/** What an image that cannot be had ends with; all else is about the container, or the host. */
const IMAGE_REASONS: readonly RuntimeErrorReason[] = [
  'image-denied',
  'image-missing',
  'image-unreachable',
  'setup-failed',
];

/** What a host has too little of for a worker that was placed on it. */
const ROOM_REASONS: readonly RuntimeErrorReason[] = ['disk-full', 'no-room', 'no-such-device', 'out-of-memory'];

export type Failure = Pick<LastFailure, 'kind' | 'lacksRoom' | 'reason'>;

/** Why the runtime could not start or prepare a worker, for people and for the crash-loop count. */
export function describeFailure(error: unknown): Failure {
  if (!(error instanceof RuntimeError)) {
    return { kind: 'container', reason: cleanText(String(error), WORKER_REASON_CHARACTERS_MAX) };
  }
  const kind = IMAGE_REASONS.includes(error.reason) ? 'image' : 'container';
  const room = ROOM_REASONS.includes(error.reason) ? { lacksRoom: true } : {};
  return { kind, reason: `${error.reason}: ${error.message}`, ...room };
}
