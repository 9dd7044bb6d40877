import { PULL_RULES } from '../images/pull-reason.js';
import { RuntimeError, type RuntimeErrorReason } from '../runtime-error.js';

interface EngineError {
  readonly message: string;
  readonly code?: string;
  readonly statusCode?: number;
  readonly json?: { readonly message?: string } | null;
}

type Rule = readonly [pattern: RegExp, reason: RuntimeErrorReason];

/** The engine tells causes in its text only. First match wins. */
const ANY_RULES: readonly Rule[] = [
  [/no space left on device|disk quota exceeded/i, 'disk-full'],
  [/cannot allocate memory|out of memory/i, 'out-of-memory'],
];

const START_RULES: readonly Rule[] = [
  [/no such image/i, 'image-missing'],
  [/could not select device driver|nvidia-container|unresolvable CDI|device ".*" not found/i, 'no-such-device'],
  [/minimum memory limit/i, 'out-of-memory'],
  [/is already in use by container|removal of container .* is already in progress/i, 'runtime-unavailable'],
];

/** What the engine's client puts before the engine's own words where it cannot tell them apart, as for a pull. */
const CLIENTS_WORDS = /^\(HTTP code \d+\) [\w ]+ - /;

export const fromPullError = (error: unknown, image: string): RuntimeError =>
  toRuntimeError(error, `Image ${image} could not be pulled`, { rules: PULL_RULES, fallback: 'image-unreachable' });

export const fromStartError = (error: unknown, what: string): RuntimeError =>
  toRuntimeError(error, what, { rules: START_RULES, fallback: 'start-failed' });

export const fromFreezeError = (error: unknown, what: string): RuntimeError =>
  toRuntimeError(error, what, { rules: [], fallback: 'freeze-failed' });

export const fromEngineError = (error: unknown, what: string): RuntimeError =>
  toRuntimeError(error, what, { rules: [], fallback: 'runtime-unavailable' });

function toRuntimeError(
  error: unknown,
  what: string,
  { rules, fallback }: { readonly rules: readonly Rule[]; readonly fallback: RuntimeErrorReason },
): RuntimeError {
  if (error instanceof RuntimeError) return error;
  const { code, message, json, statusCode } = error as EngineError;
  if (code === 'ABORT_ERR') return new RuntimeError('cancelled', `${what}: the agent gave up.`, { cause: error });
  const text = json?.message ?? message.replace(CLIENTS_WORDS, '').trim();
  // Without a status the engine itself was not reached, except that a pull tells its errors within the answer.
  const isSilent = statusCode === undefined && code !== undefined;
  const matched = [...ANY_RULES, ...rules].find(([pattern]) => pattern.test(text))?.[1];
  return new RuntimeError(isSilent ? 'runtime-unavailable' : (matched ?? fallback), `${what}: ${text}`, {
    cause: error,
  });
}

export const hasStatus = (error: unknown, ...statuses: readonly number[]): boolean =>
  statuses.includes((error as EngineError).statusCode ?? 0);

/** The engine itself says what is wrong, in its own form. */
export const isTold = (error: unknown): boolean => typeof (error as EngineError).json?.message === 'string';

/** The engine refuses a disk limit where its storage cannot keep one (overlay2 needs XFS with project quotas). */
export const isDiskLimitRefusal = (error: unknown): boolean =>
  /storage-opt|storage option|quota (?:not|isn't) supported|pquota/i.test((error as EngineError).message);
