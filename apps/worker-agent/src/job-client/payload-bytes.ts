import type { JobCalls } from './router-link.port.js';

/** Names, ids and the frame of a message. */
export const FRAME_BYTES = 512;

/** How much a request puts on the line, near enough for a bound; JSON escapes may come to as much again. */
export function payloadBytes<Verb extends keyof JobCalls>(verb: Verb, request: JobCalls[Verb][0]): number {
  const { base64, body, output, result } = request as Partial<Payloads>;
  const texts = [base64, body, output?.json, result?.error, result?.reason, result?.output?.json];
  return texts.reduce((sum, text) => sum + (text?.length ?? 0), FRAME_BYTES);
}

/** The long members of all requests. */
interface Payloads {
  readonly base64: string;
  readonly body: string;
  readonly output: { readonly json?: string };
  readonly result: {
    readonly error?: string;
    readonly reason?: string;
    readonly output?: { readonly json?: string } | null;
  };
}

/** Larger results of jobs travel with the chunks, so that no lease waits behind them. */
const DONE_MAX_BYTES = 16 * 1024;

const ALWAYS: ReadonlySet<keyof JobCalls> = new Set(['chunk', 'download', 'progress', 'upload']);

/** Whether a question belongs on the connection for payload: it is large, or its answer is. */
export const isPayload = <Verb extends keyof JobCalls>(verb: Verb, request: JobCalls[Verb][0]): boolean =>
  ALWAYS.has(verb) || (verb === 'done' && payloadBytes(verb, request) > DONE_MAX_BYTES);
