import { BATCH_MAX_BYTES, cleanText } from '@berth/domain';
import type { LogBatch, LogEntry, LogIndex } from '@berth/endpoint-log';
import type { MsgHdrs } from '@nats-io/transport-node';

/** The newest format of logs that this process reads, and the one that it writes. */
export const LOG_FORMAT = 1;

/** The headers beside the facts of a batch. */
export const LOG_HEADERS = {
  format: 'Berth-Format',
  batch: 'Berth-Batch',
  after: 'Berth-After',
  index: 'Berth-Index',
} as const;

const BATCH_ID = /^[A-Za-z0-9-]{1,64}$/;
/** As `String` writes a whole number, so that what is read is what was written. */
const WHOLE = /^(?:0|[1-9]\d{0,15})$/;
const NONE = '-';
const INDEX_FIELDS = 7;
const REASON_MAX_CHARACTERS = 200;

/** @throws RangeError for what no reader would take for a batch */
export function batchHeaders({ after, batchId, facts, index }: Omit<LogBatch, 'endpointId'>): Record<string, string> {
  if (!BATCH_ID.test(batchId)) throw new RangeError('a batch whose id is none');
  if (facts.length > BATCH_MAX_BYTES) throw new RangeError(`a batch of ${facts.length} bytes`);
  return {
    [LOG_HEADERS.format]: `${LOG_FORMAT}`,
    [LOG_HEADERS.batch]: batchId,
    [LOG_HEADERS.after]: whole(after),
    [LOG_HEADERS.index]: indexText(index),
  };
}

function whole(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a whole number: ${value}`);
  return `${value}`;
}

const wholeOrNone = (value: number | null): string => (value === null ? NONE : whole(value));

/** In one header: each of them costs its reader more than a split. */
const indexText = (index: LogIndex): string =>
  [
    wholeOrNone(index.dueAtMs),
    whole(index.waitingNormal),
    whole(index.waitingLow),
    wholeOrNone(index.oldestQueuedAtMs),
    whole(index.running),
    whole(index.runningLow),
    whole(index.living),
  ].join(' ');

/** A message of the log, by any writer. */
export interface LogMessage {
  readonly sequence: number;
  readonly headers: MsgHdrs | undefined;
  readonly body: Uint8Array;
}

/** Never throws: whatever is no batch of ours says so. */
export function readLogMessage({ sequence, headers, body }: LogMessage): LogEntry {
  if (headers === undefined) return unreadable(sequence, 'it has no headers');
  const format = headers.get(LOG_HEADERS.format);
  if (format !== `${LOG_FORMAT}`) return unreadable(sequence, otherFormat(format));
  const batchId = headers.get(LOG_HEADERS.batch);
  if (!BATCH_ID.test(batchId)) return unreadable(sequence, 'its batch id is none');
  const after = wholeFrom(headers.get(LOG_HEADERS.after));
  if (after === null || after >= sequence) return unreadable(sequence, 'it does not say which batch was before it');
  const index = indexFrom(headers);
  if (index === null) return unreadable(sequence, 'its index cannot be read');
  if (body.length > BATCH_MAX_BYTES) return unreadable(sequence, `it has ${body.length} bytes`);
  return { sequence, after, batchId, index, facts: body };
}

const unreadable = (sequence: number, reason: string): LogEntry => ({
  sequence,
  unreadable: cleanText(reason, REASON_MAX_CHARACTERS),
});

const otherFormat = (format: string): string =>
  format === '' ? 'it is no batch' : `it is of format ${format}, and this process reads ${LOG_FORMAT}`;

/** Of which format a message says that it is; null: it says of none that a version of Berth could write. */
export const readLogFormat = (headers: MsgHdrs | undefined): number | null =>
  wholeFrom(headers?.get(LOG_HEADERS.format) ?? '');

/** Null where the message is no batch, as far as its headers say. */
export function readLogIndex(headers: MsgHdrs | undefined): LogIndex | null {
  return headers?.get(LOG_HEADERS.format) === `${LOG_FORMAT}` ? indexFrom(headers) : null;
}

function indexFrom(headers: MsgHdrs): LogIndex | null {
  const fields = headers.get(LOG_HEADERS.index).split(' ', INDEX_FIELDS + 1);
  const numbers = fields.map(wholeFrom);
  const isWhole = numbers.every((value, at) => value !== null || (MAY_BE_NONE.has(at) && fields[at] === NONE));
  if (fields.length !== INDEX_FIELDS || !isWhole) return null;
  const [dueAtMs, waitingNormal, waitingLow, oldestQueuedAtMs, running, runningLow, living] = numbers as IndexNumbers;
  return { dueAtMs, waitingNormal, waitingLow, oldestQueuedAtMs, running, runningLow, living };
}

type IndexNumbers = [number | null, number, number, number | null, number, number, number];
/** Places of the two instants. */
const MAY_BE_NONE: ReadonlySet<number> = new Set([0, 3]);

function wholeFrom(text: string): number | null {
  const value = WHOLE.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : null;
}
