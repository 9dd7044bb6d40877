import { isAnswered } from '@berth/cluster-api';
import { RuntimeError, type RuntimeErrorReason } from '../../runtime-error.js';

/** The API refuses what it cannot take (422), and quotas and policies of the namespace what they do not allow (403). */
const REFUSALS: readonly number[] = [400, 403, 422];

/** What an error of the API, or on the way to it, means for a runtime. */
export function fromClusterError(
  error: unknown,
  what: string,
  refused: RuntimeErrorReason = 'runtime-unavailable',
): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const isRefused = isAnswered(error, ...REFUSALS);
  const { cause, message } = error as Error;
  // What ends a connection is told as the cause of a general failure.
  const detail = cause instanceof Error ? `${message} (${cause.message})` : message;
  return new RuntimeError(isRefused ? refused : 'runtime-unavailable', `${what}: ${detail}`, { cause: error });
}

/** @throws RuntimeError in place of whatever comes of the call */
export async function askApi<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw fromClusterError(error, what);
  }
}

/** `undefined` where the API answers with one of the statuses that are as good as success. */
export async function askApiUnless<T>(
  statuses: readonly number[],
  what: string,
  call: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (isAnswered(error, ...statuses)) return undefined;
    throw fromClusterError(error, what);
  }
}
