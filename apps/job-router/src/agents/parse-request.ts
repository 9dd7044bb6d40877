import {
  DONE_ENDS_MAX,
  RENEW_LEASES_MAX,
  TAKE_JOBS_MAX,
  TAKE_WAIT_MAX_MS,
  TAKE_WISHES_MAX,
  type AttemptEnd,
  type AttemptRef,
  type ChunkRequest,
  type DoneResult,
  type DownloadRequest,
  type ProgressRequest,
  type RenewRequest,
  type TakeRequest,
  type UploadRequest,
  type WithdrawMessage,
  type WorkerWish,
} from '@berth/contracts';
import {
  BLOB_PART_BYTES,
  CHUNK_MAX_BYTES,
  INLINE_OUTPUT_MAX_BYTES,
  LOG_TAIL_CHARACTERS_MAX,
  LOG_TAIL_LINES_MAX,
  PlatformError,
  type BlobManifest,
  type Payload,
} from '@berth/domain';
import { MessageReader } from './message-reader.js';

/** Parts of the largest output that is taken: 64 MiB. */
const OUTPUT_PARTS_MAX = 128;

/** A worker's error text beyond this is cut: it lies in the log, and a traceback's beginning and end say enough. */
export const ERROR_MAX_CHARACTERS = 32_000;

const TOKEN_MAX_BYTES = 128;
const TRACEPARENT_MAX_BYTES = 128;
const ATTEMPT_MAX = 1_000_000_000;
const CHUNKS_MAX = 10_000_000;
/** Above the life of any job: a host that was away for long still says what it knows. */
const AGO_MAX_MS = 30 * 24 * 3_600_000;
const REASON_MAX_BYTES = 8 * 1024 ** 2;
/** Above any broker's message limit: a report that was refused would be repeated for ever. */
const ERROR_MAX_BYTES = 8 * 1024 ** 2;

/** Each of these throws PlatformError `invalid-fields` naming what is wrong. */
export function parseTake(body: unknown): TakeRequest {
  return { wishes: entriesOf(body, 'wishes', TAKE_WISHES_MAX).map(wishOf) };
}

export function parseWithdraw(body: unknown): WithdrawMessage {
  const message = new MessageReader(body);
  return { endpointId: message.id('endpointId'), workerId: message.id('workerId') };
}

export function parseRenew(body: unknown): RenewRequest {
  return { leases: new MessageReader(body).list('leases', RENEW_LEASES_MAX).map(refOf) };
}

export function parseChunk(body: unknown): ChunkRequest {
  const message = new MessageReader(body);
  return {
    ...refOf(message),
    index: message.integer('index', 0, CHUNKS_MAX),
    body: message.json('body', CHUNK_MAX_BYTES),
  };
}

export function parseProgress(body: unknown): ProgressRequest {
  const message = new MessageReader(body);
  const output = payloadOf(message.object('output'));
  if (output.kind === 'inline') return { ...refOf(message), output };
  throw new PlatformError('invalid-fields', '$.output: progress must fit into the message');
}

export function parseDownload(body: unknown): DownloadRequest {
  const message = new MessageReader(body);
  return { ...refOf(message), part: message.integer('part', 0, OUTPUT_PARTS_MAX - 1) };
}

export function parseUpload(body: unknown): UploadRequest {
  const message = new MessageReader(body);
  return {
    ...refOf(message),
    part: message.integer('part', 0, OUTPUT_PARTS_MAX - 1),
    base64: message.text('base64', Math.ceil(BLOB_PART_BYTES / 3) * 4),
  };
}

/** The ends as they came: one that `parseEnd` refuses keeps no other from being taken. */
export function parseDone(body: unknown): readonly MessageReader[] {
  return entriesOf(body, 'ends', DONE_ENDS_MAX);
}

export const parseEnd = (message: MessageReader): AttemptEnd => ({
  ...refOf(message),
  result: resultOf(message.object('result')),
  chunks: message.integer('chunks', 0, CHUNKS_MAX),
  traceparent: message.isNull('traceparent') ? null : message.text('traceparent', TRACEPARENT_MAX_BYTES),
});

/** An empty list would have no receiver. */
function entriesOf(body: unknown, name: string, max: number): readonly MessageReader[] {
  const entries = new MessageReader(body).list(name, max);
  if (entries.length === 0) throw new PlatformError('invalid-fields', `$.${name}: must not be empty`);
  return entries;
}

const wishOf = (message: MessageReader): WorkerWish => ({
  takeId: message.id('takeId'),
  endpointId: message.id('endpointId'),
  workerId: message.id('workerId'),
  slots: message.integer('slots', 1, TAKE_JOBS_MAX),
  waitMs: message.integer('waitMs', 0, TAKE_WAIT_MAX_MS),
});

const refOf = (message: MessageReader): AttemptRef => ({
  endpointId: message.id('endpointId'),
  jobId: message.id('jobId'),
  attempt: message.integer('attempt', 1, ATTEMPT_MAX),
  token: message.text('token', TOKEN_MAX_BYTES),
});

function resultOf(message: MessageReader): DoneResult {
  const kind = message.oneOf('kind', ['completed', 'failed', 'timed-out', 'lost', 'stopped']);
  switch (kind) {
    case 'completed':
      return { kind, output: outputOf(message) };
    case 'failed':
      return { kind, error: cut(message.text('error', ERROR_MAX_BYTES)), output: outputOf(message) };
    case 'timed-out':
      return { kind };
    case 'lost':
      return lossOf(message);
    case 'stopped':
      return { kind, agoMs: message.integer('agoMs', 0, AGO_MAX_MS), logTail: logTailOf(message) };
  }
}

const lossOf = (message: MessageReader): DoneResult => ({
  kind: 'lost',
  reason: cut(message.text('reason', REASON_MAX_BYTES)),
  isCharged: message.boolean('isCharged'),
  logTail: logTailOf(message),
});

const logTailOf = (message: MessageReader): readonly string[] =>
  message.texts('logTail', LOG_TAIL_LINES_MAX, LOG_TAIL_CHARACTERS_MAX);

const outputOf = (message: MessageReader): Payload | null =>
  message.isNull('output') ? null : payloadOf(message.object('output'));

function payloadOf(message: MessageReader): Payload {
  const kind = message.oneOf('kind', ['inline', 'blob']);
  if (kind === 'inline') return { kind, json: message.json('json', INLINE_OUTPUT_MAX_BYTES) };
  return { kind, manifest: manifestOf(message.object('manifest')) };
}

const manifestOf = (message: MessageReader): BlobManifest => ({
  name: message.id('name'),
  parts: message.integer('parts', 1, OUTPUT_PARTS_MAX),
  sizeBytes: message.integer('sizeBytes', 0, OUTPUT_PARTS_MAX * BLOB_PART_BYTES),
  sha256: message.id('sha256'),
});

/** Keeps both ends, where a traceback has its call and its cause. */
function cut(text: string): string {
  if (text.length <= ERROR_MAX_CHARACTERS) return text;
  const half = ERROR_MAX_CHARACTERS / 2;
  return `${text.slice(0, half)}\n… ${text.length - ERROR_MAX_CHARACTERS} characters left out …\n${text.slice(-half)}`.toWellFormed();
}
