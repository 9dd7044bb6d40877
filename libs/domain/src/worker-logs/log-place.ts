/** Where a reader of logs stands: behind one line, and in a log of several workers behind one line of each. */
export interface WorkerLogPlace {
  readonly sequence: number;
  /** Worker → its last line that was told; null in the log of one worker. */
  readonly workers: ReadonlyMap<string, number> | null;
}

/** The last instant that RFC 3339 has words for: of a later line no reader could say that it has it. */
export const LOG_LINE_AT_MAX_MS = Date.UTC(9_999, 11, 31, 23, 59, 59, 999);
/** Of 15 digits, as many as a place may have. */
export const LOG_SEQUENCE_MAX = 999_999_999_999_999;

const SEQUENCE_DIGITS = 12;
const SEQUENCE_RADIX = 36;
/** Workers that one place can name: it travels in a header. */
const WORKERS_MAX = 64;
const PLACE = /^[0-9TZ:.+-]{10,40}\/(\d{12,15})(?:\/(.*))?$/;
const WORKER = /^([A-Za-z0-9_-]{1,128}):([0-9a-z]{1,11})$/;
const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/** As the `id` of an event (wire contract 5.4). @param atMs of the line */
export function formatLogPlace(atMs: number, { sequence, workers }: WorkerLogPlace): string {
  const line = `${new Date(atMs).toISOString()}/${String(sequence).padStart(SEQUENCE_DIGITS, '0')}`;
  if (workers === null) return line;
  const others = [...workers].map(([id, last]) => `${id}:${last.toString(SEQUENCE_RADIX)}`);
  return `${line}/${others.join(',')}`;
}

/** Null where it is none. */
export function readLogPlace(text: string): WorkerLogPlace | null {
  const found = PLACE.exec(text);
  if (found === null) return null;
  const [, sequence = '', others] = found;
  if (others === undefined) return { sequence: Number(sequence), workers: null };
  const workers = readWorkers(others === '' ? [] : others.split(','));
  return workers === null ? null : { sequence: Number(sequence), workers };
}

function readWorkers(parts: readonly string[]): ReadonlyMap<string, number> | null {
  if (parts.length > WORKERS_MAX) return null;
  const workers = new Map<string, number>();
  for (const part of parts) {
    const [, id = '', last = ''] = WORKER.exec(part) ?? [];
    const sequence = Number.parseInt(last, SEQUENCE_RADIX);
    if (id === '' || !Number.isSafeInteger(sequence)) return null;
    workers.set(id, sequence);
  }
  return workers;
}

/** An instant of RFC 3339 as Unix ms; null where it is none. */
export function readSince(text: string): number | null {
  const atMs = RFC3339.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(atMs) ? null : atMs;
}
