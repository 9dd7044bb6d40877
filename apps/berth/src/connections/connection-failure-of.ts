import type { ConnectionFailure } from './connection-failure.js';

const DEPTH_MAX = 4;

/** What an error of a connection says. Clients wrap what the socket said, so the innermost code counts. */
export function connectionFailureOf(error: unknown): ConnectionFailure {
  if (!(error instanceof Error)) return { code: null, message: String(error) };
  let code: string | null = null;
  let message = error.message;
  let at: unknown = error;
  for (let depth = 0; depth < DEPTH_MAX && at instanceof Error; depth += 1) {
    if ('code' in at && typeof at.code === 'string') code = at.code;
    if (at.message !== '') message = at.message;
    at = at instanceof AggregateError ? at.errors[0] : at.cause;
  }
  return { code: error.name === 'TimeoutError' ? 'ETIMEDOUT' : (code ?? codeOf(error)), message };
}

/** What a client says in words of its own, without what the socket said. */
const codeOf = ({ message }: Error): string | null => (message === 'connection refused' ? 'ECONNREFUSED' : null);
