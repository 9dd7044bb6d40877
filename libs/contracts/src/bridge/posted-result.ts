import type { RawJson } from '@berth/domain';
import { readLenient, textOf } from './lenient-json.js';

/** The result that a worker posted to `job-done`. */
export type PostedResult<Output = RawJson> =
  | { readonly kind: 'progress'; readonly output: Output }
  | {
      readonly kind: 'result';
      readonly ending: PostedEnding<Output>;
      /** True when the worker asks to be replaced. */
      readonly wantsRecycle: boolean;
    };

type PostedEnding<Output> =
  | { readonly kind: 'completed'; readonly output: Output | null }
  | { readonly kind: 'failed'; readonly error: string; readonly output: Output | null };

/** Largest output that is kept (API decisions 2.1: the payload of `/runsync`). */
export const POSTED_OUTPUT_MAX_BYTES = 20 * 2 ** 20;
/**
 * An error is shown whole in the job's record, so it is bounded, as the JSON text that is stored and sent: one character
 * may come to six bytes there. A Python traceback is far below.
 */
const POSTED_ERROR_MAX_BYTES = 64 * 1024;

const MEMBERS = new Set(['output', 'status', 'error', 'stopPod']);
const IN_PROGRESS = 'IN_PROGRESS';
/** A string that is longer is another status, however it is written. */
const STATUS_MAX_BYTES = 6 * IN_PROGRESS.length + 2;
const NULL = Buffer.from('null');
const UNREADABLE = {
  'not-json': 'the worker posted a result that is not JSON',
  'too-deep': 'the worker posted a result that is nested too deeply',
} as const;

/**
 * Reads the body of `job-done` (wire contract 1.7). The output is the text that came. A text that cannot be a result
 * fails the job in words, because a worker that is answered with an error forgets its result.
 */
export const readPostedResult = (text: string): PostedResult =>
  readPostedBytes(Buffer.from(text, 'utf8'), (utf8) => textOf(utf8) as RawJson);

/** The same of bytes as they came. @param toOutput given the output's own text in UTF-8, a part of the body's memory */
export function readPostedBytes<Output>(
  body: Uint8Array,
  toOutput: (utf8: Uint8Array) => Output,
): PostedResult<Output> {
  const reading = readLenient(body, MEMBERS);
  if (reading.kind !== 'json') return failedResult(UNREADABLE[reading.kind]);
  const { members } = reading.json;
  if (members === null) return failedResult('the worker posted a result that is not a JSON object');
  if (!isInProgress(members.get('status'))) return toResult(members, toOutput);
  return { kind: 'progress', output: toOutput(members.get('output') ?? NULL) };
}

function toResult<Output>(
  members: ReadonlyMap<string, Uint8Array>,
  toOutput: (utf8: Uint8Array) => Output,
): PostedResult<Output> {
  const wantsRecycle = isTruthy(members.get('stopPod'));
  const text = members.get('output');
  const size = text?.byteLength ?? 0;
  if (size > POSTED_OUTPUT_MAX_BYTES) return failedResult(tooLarge(size), wantsRecycle);
  const error = errorText(members.get('error'));
  const output = text === undefined ? null : toOutput(text);
  if (error !== null) return { kind: 'result', ending: { kind: 'failed', error, output }, wantsRecycle };
  return { kind: 'result', ending: { kind: 'completed', output }, wantsRecycle };
}

/** The result of a body that was too large to be read at all. */
export const readOversized = (bytes: number): PostedResult<never> => failedResult(tooLarge(bytes));

/** The result of a body of which nothing could be made. */
export const failedResult = (error: string, wantsRecycle = false): PostedResult<never> => ({
  kind: 'result',
  ending: { kind: 'failed', error, output: null },
  wantsRecycle,
});

const tooLarge = (bytes: number): string =>
  `the output is too large: ${bytes} bytes, at most ${POSTED_OUTPUT_MAX_BYTES} are allowed`;

const isInProgress = (status: Uint8Array | undefined): boolean =>
  status !== undefined && status.byteLength <= STATUS_MAX_BYTES && JSON.parse(textOf(status)) === IN_PROGRESS;

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const CLOSINGS: ReadonlySet<number | undefined> = new Set([0x7d, 0x5d]);
const FALSE_OR_NULL: ReadonlySet<number | undefined> = new Set([0x66, 0x6e]);
const TRUE = 0x74;
const SPACE_MAX = 0x20;

/** A handler may return any JSON as its error; what is not a string is shown as its own JSON text. */
function errorText(error: Uint8Array | undefined): string | null {
  if (error === undefined || !isTruthy(error)) return null;
  const text = textOf(error);
  const shown = error[0] === QUOTE ? (JSON.parse(text) as string) : text;
  const kept = shown.slice(0, keptLength(shown));
  return kept.length === shown.length ? shown : `${kept}… (${shown.length} characters in all)`;
}

/** How many characters of a text are at most `POSTED_ERROR_MAX_BYTES` of JSON. */
function keptLength(text: string): number {
  let [fits, above] = [0, Math.min(text.length, POSTED_ERROR_MAX_BYTES) + 1];
  if (encodedBytes(text.slice(0, above - 1)) <= POSTED_ERROR_MAX_BYTES) return above - 1;
  while (above - fits > 1) {
    const middle = Math.floor((fits + above) / 2);
    if (encodedBytes(text.slice(0, middle)) <= POSTED_ERROR_MAX_BYTES) fits = middle;
    else above = middle;
  }
  return fits;
}

const encodedBytes = (text: string): number => Buffer.byteLength(JSON.stringify(text), 'utf8') - '""'.length;

/**
 * As Python sees it: the SDK decides by the same rule whether there is an error.
 *
 * @param value JSON text without space around it
 */
function isTruthy(value: Uint8Array | undefined): boolean {
  if (value === undefined) return false;
  const first = value[0];
  if (first === QUOTE) return value.byteLength > 2;
  if (first === OPEN_BRACE || first === OPEN_BRACKET) {
    const inner = value.findIndex((byte, at) => at > 0 && byte > SPACE_MAX);
    return !CLOSINGS.has(value[inner]);
  }
  if (first === TRUE || FALSE_OR_NULL.has(first)) return first === TRUE;
  return Number(textOf(value)) !== 0;
}
