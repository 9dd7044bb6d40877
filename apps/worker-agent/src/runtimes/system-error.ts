import { RuntimeError, type RuntimeErrorReason } from './runtime-error.js';

/** What an error of the operating system means for a runtime. */
export function fromSystemError(error: unknown, fallback: RuntimeErrorReason, what: string): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const detail = `${what}: ${message}`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return new RuntimeError('disk-full', detail, { cause: error });
  if (code === 'ENOMEM') return new RuntimeError('out-of-memory', detail, { cause: error });
  if (code === 'EAGAIN' || code === 'EMFILE') return new RuntimeError('runtime-unavailable', detail, { cause: error });
  return new RuntimeError(fallback, detail, { cause: error });
}

/** @throws RuntimeError in place of whatever the system throws */
export async function attempt<T>(what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw fromSystemError(error, 'runtime-unavailable', what);
  }
}
