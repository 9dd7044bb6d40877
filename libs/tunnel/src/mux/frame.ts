import type { EndpointId, WorkerId } from '@berth/domain';
import { LINK_REFUSALS, type LinkRefusal } from '../worker-link.port.js';
import { FrameError } from './frame-error.js';

/** The first byte of a frame. Three bytes of length follow, and four of the stream's number. */
export const FRAME = {
  open: 1,
  admit: 2,
  refuse: 3,
  data: 4,
  window: 5,
  end: 6,
  reset: 7,
  ping: 8,
  pong: 9,
  leave: 10,
  trace: 11,
} as const;

export const HEAD_BYTES = 8;
/** Of what follows a head of DATA. Short enough that one stream never holds up the others for long. */
export const DATA_MAX_BYTES = 32 * 1_024;
/** Of each id in OPEN, which has one byte for its length. */
const ID_MAX_BYTES = 255;
const REASON_MAX_BYTES = 64;
const WINDOW_BYTES = 4;
/** Of a `traceparent` of version 00. */
const TRACE_BYTES = 55;
const LENGTH_BITS = 0xff_ff_ff;
const TYPE_SHIFT = 24;

export interface FrameHead {
  readonly type: number;
  readonly length: number;
  /** 0: the tunnel itself. */
  readonly id: number;
}

/** Whom a stream is for, as OPEN says it. */
export interface OpenTarget {
  readonly endpointId: EndpointId;
  readonly workerId: WorkerId;
  /** Where the worker is full, the question may be kept in line for a moment. */
  readonly mayWait: boolean;
}

export type StreamFrame =
  | { readonly kind: 'open'; readonly id: number; readonly target: OpenTarget }
  | { readonly kind: 'refuse'; readonly id: number; readonly reason: LinkRefusal }
  | { readonly kind: 'window'; readonly id: number; readonly bytes: number }
  | { readonly kind: 'trace'; readonly id: number; readonly traceparent: string }
  | { readonly kind: 'admit' | 'end' | 'reset'; readonly id: number };

/** All but DATA, whose bytes are passed on as they come. */
export type ControlFrame = StreamFrame | { readonly kind: 'ping' | 'pong' | 'leave' };

/** What may follow the head, least and most, and whether it belongs to a stream. */
const SHAPES: Readonly<Record<number, { readonly least: number; readonly most: number; readonly ofStream: boolean }>> =
  {
    [FRAME.open]: { least: 5, most: 1 + 2 * (1 + ID_MAX_BYTES), ofStream: true },
    [FRAME.admit]: { least: 0, most: 0, ofStream: true },
    [FRAME.refuse]: { least: 1, most: REASON_MAX_BYTES, ofStream: true },
    [FRAME.data]: { least: 1, most: DATA_MAX_BYTES, ofStream: true },
    [FRAME.window]: { least: WINDOW_BYTES, most: WINDOW_BYTES, ofStream: true },
    [FRAME.end]: { least: 0, most: 0, ofStream: true },
    [FRAME.reset]: { least: 0, most: 0, ofStream: true },
    [FRAME.ping]: { least: 0, most: 0, ofStream: false },
    [FRAME.pong]: { least: 0, most: 0, ofStream: false },
    [FRAME.leave]: { least: 0, most: 0, ofStream: false },
    [FRAME.trace]: { least: TRACE_BYTES, most: TRACE_BYTES, ofStream: true },
  };

/** @throws FrameError where no frame begins like that */
export function readHead(bytes: Buffer, at: number): FrameHead {
  const word = bytes.readUInt32BE(at);
  const head = { type: word >>> TYPE_SHIFT, length: word & LENGTH_BITS, id: bytes.readUInt32BE(at + 4) };
  const shape = SHAPES[head.type];
  if (shape === undefined) throw new FrameError(`a frame of type ${head.type}`);
  if (head.length < shape.least || head.length > shape.most) {
    throw new FrameError(`a frame of type ${head.type} with ${head.length} bytes`);
  }
  if (head.id > 0 !== shape.ofStream) throw new FrameError(`a frame of type ${head.type} for ${head.id}`);
  return head;
}

/** @param body as long as the head says @throws FrameError */
export function decodeControl({ id, type }: FrameHead, body: Buffer): ControlFrame {
  switch (type) {
    case FRAME.open:
      return { kind: 'open', id, target: decodeTarget(body) };
    case FRAME.admit:
      return { kind: 'admit', id };
    case FRAME.refuse:
      return { kind: 'refuse', id, reason: decodeReason(body) };
    case FRAME.window:
      return { kind: 'window', id, bytes: body.readUInt32BE(0) };
    case FRAME.end:
      return { kind: 'end', id };
    case FRAME.reset:
      return { kind: 'reset', id };
    case FRAME.trace:
      return { kind: 'trace', id, traceparent: body.toString('latin1') };
    default:
      return ofTunnel(type);
  }
}

function ofTunnel(type: number): ControlFrame {
  const kind = (['ping', 'pong', 'leave'] as const).find((each) => FRAME[each] === type);
  if (kind === undefined) throw new FrameError(`a frame of type ${type}`);
  return { kind };
}

function decodeTarget(body: Buffer): OpenTarget {
  const [mayWait = 0, endpointBytes = 0] = body;
  if (mayWait > 1) throw new FrameError('a wish that nobody knows');
  const split = 2 + endpointBytes;
  const end = split + 1 + (body[split] ?? 0);
  if (split === 2 || end === split + 1 || end !== body.length) throw new FrameError('ids of no sound length');
  return {
    endpointId: body.toString('utf8', 2, split) as EndpointId,
    workerId: body.toString('utf8', split + 1, end) as WorkerId,
    mayWait: mayWait === 1,
  };
}

/** One that this version does not know counts as no way. */
function decodeReason(body: Buffer): LinkRefusal {
  const word = body.toString('latin1');
  return LINK_REFUSALS.find((reason) => reason === word) ?? 'no-way';
}

/** A head alone: of DATA, or of a frame without more. */
export function encodeHead(type: number, id: number, length = 0): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + (type === FRAME.data ? 0 : length));
  bytes.writeUInt32BE(((type << TYPE_SHIFT) | length) >>> 0, 0);
  bytes.writeUInt32BE(id, 4);
  return bytes;
}

/** Whether OPEN has room for its ids. */
export const canBeSaid = ({ endpointId, workerId }: Pick<OpenTarget, 'endpointId' | 'workerId'>): boolean =>
  [endpointId, workerId].every((id) => id.length > 0 && Buffer.byteLength(id) <= ID_MAX_BYTES);

/** @param target one that can be said */
export function encodeOpen(id: number, { endpointId, mayWait, workerId }: OpenTarget): Buffer {
  const [endpointBytes, workerBytes] = [Buffer.byteLength(endpointId), Buffer.byteLength(workerId)];
  const bytes = encodeHead(FRAME.open, id, 3 + endpointBytes + workerBytes);
  bytes[HEAD_BYTES] = mayWait ? 1 : 0;
  bytes[HEAD_BYTES + 1] = endpointBytes;
  bytes.write(endpointId, HEAD_BYTES + 2);
  bytes[HEAD_BYTES + 2 + endpointBytes] = workerBytes;
  bytes.write(workerId, HEAD_BYTES + 3 + endpointBytes);
  return bytes;
}

export function encodeRefuse(id: number, reason: LinkRefusal): Buffer {
  const bytes = encodeHead(FRAME.refuse, id, reason.length);
  bytes.write(reason, HEAD_BYTES, 'latin1');
  return bytes;
}

/** @param more what the other side may send beyond what it might before */
export function encodeWindow(id: number, more: number): Buffer {
  const bytes = encodeHead(FRAME.window, id, WINDOW_BYTES);
  bytes.writeUInt32BE(more, HEAD_BYTES);
  return bytes;
}

/** @param traceparent of version 00 */
export function encodeTrace(id: number, traceparent: string): Buffer {
  const bytes = encodeHead(FRAME.trace, id, TRACE_BYTES);
  bytes.write(traceparent, HEAD_BYTES, 'latin1');
  return bytes;
}
