import { crc32 } from 'node:zlib';

/** One change of a commit. A put replaces the whole record. */
export type Change =
  | { readonly kind: 'put'; readonly key: string; readonly value: string; readonly file: string | null }
  | { readonly kind: 'remove'; readonly key: string };

/** First bytes of every segment: product and format version. */
export const SEGMENT_MAGIC = Buffer.from('BERTHJ01', 'latin1');

const HEADER_BYTES = 8;
/** A length above this is damage, not a commit. */
const PAYLOAD_MAX_BYTES = 64 * 1024 * 1024;

/** One commit as it lies on disk: length, CRC-32, payload. A commit is whole or it is not there. */
export function encodeFrame(changes: readonly Change[]): Buffer {
  const payload = Buffer.from(JSON.stringify(changes.map(toRow)), 'utf8');
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payload.byteLength);
  frame.writeUInt32LE(payload.byteLength, 0);
  frame.writeUInt32LE(crc32(payload), 4);
  payload.copy(frame, HEADER_BYTES);
  return frame;
}

export interface JournalReplay {
  readonly commits: readonly { readonly changes: readonly Change[]; readonly bytes: number }[];
  /** Length of the part that is whole; what follows is a torn tail. */
  readonly soundBytes: number;
}

/**
 * The commits of one segment in order, up to the first that is torn. Nothing after a torn commit was ever acknowledged:
 * a write that fails closes its segment.
 */
export function decodeSegment(segment: Buffer): JournalReplay {
  const commits: { changes: Change[]; bytes: number }[] = [];
  if (!segment.subarray(0, SEGMENT_MAGIC.byteLength).equals(SEGMENT_MAGIC)) return { commits, soundBytes: 0 };
  let at = SEGMENT_MAGIC.byteLength;
  for (let payload = payloadAt(segment, at); payload !== null; payload = payloadAt(segment, at)) {
    const rows = JSON.parse(payload.toString('utf8')) as Row[];
    const bytes = HEADER_BYTES + payload.byteLength;
    commits.push({ changes: rows.map(toChange), bytes });
    at += bytes;
  }
  return { commits, soundBytes: at };
}

function payloadAt(segment: Buffer, at: number): Buffer | null {
  if (at + HEADER_BYTES > segment.byteLength) return null;
  const length = segment.readUInt32LE(at);
  const start = at + HEADER_BYTES;
  if (length === 0 || length > PAYLOAD_MAX_BYTES || start + length > segment.byteLength) return null;
  const payload = segment.subarray(start, start + length);
  return crc32(payload) === segment.readUInt32LE(at + 4) ? payload : null;
}

type Row = readonly [key: string] | readonly [key: string, value: string, file: string | null];

const toRow = (change: Change): Row => (change.kind === 'put' ? [change.key, change.value, change.file] : [change.key]);

const toChange = (row: Row): Change =>
  row.length === 1 ? { kind: 'remove', key: row[0] } : { kind: 'put', key: row[0], value: row[1], file: row[2] };
