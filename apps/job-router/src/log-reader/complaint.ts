import { PlatformError, cleanText } from '@berth/domain';
import { ConfigError } from '@berth/lifecycle';
import { BrokerApiError } from '@berth/messaging';
import { LogUsageError } from './log-request.js';

/** The log cannot be had. The message says why. */
export class UnreachableLogError extends Error {}

const STREAM_NOT_FOUND = 10_059;
const CAUSE_MAX_CHARACTERS = 500;

/** Why nothing came of it, in words that tell what to do. Null: a fault of ours. */
export function complaintOf(error: unknown): string | null {
  if (error instanceof LogUsageError) return `${error.message} --help lists the options.`;
  if (error instanceof UnreachableLogError) return error.message;
  if (error instanceof ConfigError) return `${error.message}\n${WHERE}`;
  if (error instanceof PlatformError) return unavailable(error.cause);
  return isForbidden(error) ? `The broker does not let this user at the log: ${error.cause.message}` : null;
}

const WHERE =
  'npm run log finds the broker of the stack that npm start runs. Any other one has to be named, as the job router has it.';

function unavailable(cause: unknown): string {
  if (cause instanceof BrokerApiError && cause.code === STREAM_NOT_FOUND) {
    return 'This broker has no logs of endpoints: no router that writes them has been started on it.';
  }
  const why = cause instanceof Error ? cause.message : String(cause);
  return `The broker does not answer; try again. ${cleanText(why, CAUSE_MAX_CHARACTERS)}`;
}

/** The client names the subject that its user may not publish to. */
const isForbidden = (error: unknown): error is Error & { readonly cause: Error } =>
  error instanceof Error && error.cause instanceof Error && error.cause.name === 'PermissionViolationError';
