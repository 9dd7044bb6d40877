import type { AttemptEnd } from '@berth/contracts';
import type { JobCalls, PartedCalls } from '../router-link.port.js';

/** Names, ids and the frame of a message. */
export const FRAME_BYTES = 512;

/** How much a request puts on the line, near enough for a bound; JSON escapes may come to as much again. */
export function payloadBytes<Verb extends keyof JobCalls>(request: JobCalls[Verb][0]): number {
  const { base64, body, output } = request as Partial<Payloads>;
  return lengthOf([base64, body, output?.json]);
}

/** The same of the end of an attempt. */
export function endBytes({ result }: AttemptEnd): number {
  const { error, logTail = [], output, reason } = result as Partial<EndTexts>;
  return lengthOf([error, reason, output?.json, ...logTail]);
}

const lengthOf = (texts: readonly (string | undefined)[]): number =>
  texts.reduce((sum, text) => sum + (text?.length ?? 0), FRAME_BYTES);

/** The long members of all requests. */
interface Payloads {
  readonly base64: string;
  readonly body: string;
  readonly output: { readonly json?: string };
}

/** The long members of all ends. */
interface EndTexts {
  readonly error: string;
  readonly reason: string;
  readonly output: { readonly json?: string } | null;
  readonly logTail: readonly string[];
}

/** Larger results of jobs travel with the chunks, so that no lease waits behind them. */
const END_MAX_BYTES = 16 * 1024;

export const isLargeEnd = (end: AttemptEnd): boolean => endBytes(end) > END_MAX_BYTES;

const PAYLOAD: ReadonlySet<keyof JobCalls> = new Set(['chunk', 'download', 'progress', 'upload']);

/** Whether a question belongs on the connection for payload: it is large, or its answer is. */
export const isPayload = (verb: keyof JobCalls): boolean => PAYLOAD.has(verb);

/** The same of a question that lists things. */
export const isPartedPayload = (request: PartedCalls[keyof PartedCalls][0]): boolean =>
  'ends' in request && request.ends.some(isLargeEnd);
