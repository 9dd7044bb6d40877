import { fromEngineError, hasStatus } from './engine-errors.js';

/** @throws RuntimeError in place of whatever the engine's client throws */
export async function ask<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw fromEngineError(error, what);
  }
}

/** `undefined` when the engine answers with one of the statuses that are as good as success. */
export async function askUnless<T>(
  statuses: readonly number[],
  what: string,
  call: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (hasStatus(error, ...statuses)) return undefined;
    throw fromEngineError(error, what);
  }
}
