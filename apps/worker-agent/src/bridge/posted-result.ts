import { sliceMembers, type RawJson } from '@berth/domain';
import type { Ending } from '../job-client/job-client.service.js';
import { parseLenient } from './lenient-json.js';

/** What a worker posted to `job-done`. */
export type PostedResult =
  | { readonly kind: 'progress'; readonly output: RawJson }
  | {
      readonly kind: 'result';
      readonly ending: Ending & { readonly kind: 'completed' | 'failed' };
      /** True when the worker asks to be replaced. */
      readonly wantsRecycle: boolean;
    };

/** Largest output that is kept (specification, "Limits": the payload of `/runsync`). */
export const OUTPUT_MAX_BYTES = 20 * 2 ** 20;
/** An error is shown whole in the job's record, so it is bounded; a Python traceback is far below. */
const ERROR_MAX_LENGTH = 64 * 1024;

/**
 * Reads the body of `job-done` (wire contract 1.7). The output is the text that came. Whatever cannot be a result fails
 * the job in words, because a worker that is answered with an error forgets its result.
 */
export function readPostedResult(text: string): PostedResult {
  const json = parseLenient(text);
  if (json === null) return failed('the worker posted a result that is not JSON');
  if (!isObject(json.value)) return failed('the worker posted a result that is not a JSON object');
  const members = sliceMembers(json.text);
  const output = members.get('output') ?? null;
  if (json.value['status'] === 'IN_PROGRESS') return { kind: 'progress', output: output ?? ('null' as RawJson) };
  const wantsRecycle = isTruthy(json.value['stopPod']);
  const size = output === null ? 0 : Buffer.byteLength(output, 'utf8');
  if (size > OUTPUT_MAX_BYTES) return failed(tooLarge(size), wantsRecycle);
  const error = errorText(json.value['error'], members.get('error'));
  const ending =
    error === null ? ({ kind: 'completed', output } as const) : ({ kind: 'failed', error, output } as const);
  return { kind: 'result', ending, wantsRecycle };
}

/** The result of a body that was too large to be read at all. */
export const readOversized = (bytes: number): PostedResult => failed(tooLarge(bytes));

const tooLarge = (bytes: number): string =>
  `the output is too large: ${bytes} bytes, at most ${OUTPUT_MAX_BYTES} are allowed`;

const failed = (error: string, wantsRecycle = false): PostedResult => ({
  kind: 'result',
  ending: { kind: 'failed', error, output: null },
  wantsRecycle,
});

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A handler may return any JSON as its error; what is not a string is shown as its own JSON text. */
function errorText(error: unknown, text: RawJson | undefined): string | null {
  if (!isTruthy(error)) return null;
  const shown = typeof error === 'string' ? error : (text ?? '');
  if (shown.length <= ERROR_MAX_LENGTH) return shown;
  return `${shown.slice(0, ERROR_MAX_LENGTH)}… (${shown.length} characters in all)`;
}

/** As Python sees it: the SDK decides by the same rule whether there is an error. */
function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return isObject(value) ? Object.keys(value).length > 0 : Boolean(value);
}
