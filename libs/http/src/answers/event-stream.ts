/** The media type of server-sent events (HTML standard, "Server-sent events"). */
const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';

/** No cache and no proxy on the way may hold events back. */
export const EVENT_STREAM_HEADERS = {
  'content-type': EVENT_STREAM_TYPE,
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;

/** A line that readers skip: it keeps proxies and idle timers from ending a silent stream. */
export const PING = ': ping\n\n';

export interface ServerEvent {
  /** Absent: a plain message. */
  readonly event?: string;
  readonly id?: string;
  readonly data: string;
}

const LINE_END = /\r\n|\r|\n/;

/** Data of several lines becomes as many fields, which a reader joins again. @param data any text */
export function encodeEvent({ event, id, data }: ServerEvent): string {
  const head = `${event === undefined ? '' : `event: ${event}\n`}${id === undefined ? '' : `id: ${id}\n`}`;
  const lines = data.split(LINE_END).map((line) => `data: ${line}\n`);
  return `${head}${lines.join('')}\n`;
}

/** Asks the reader to wait so long before it connects again. */
export const encodeRetry = (ms: number): string => `retry: ${ms}\n\n`;
