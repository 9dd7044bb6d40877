import {
  BLOB_PART_BYTES,
  CHUNK_MAX_BYTES,
  INLINE_OUTPUT_MAX_BYTES,
  LOG_TAIL_CHARACTERS_MAX,
  LOG_TAIL_LINES_MAX,
  type BlobManifest,
  type Payload,
} from '@berth/domain';
import {
  bytes,
  flag,
  id,
  integer,
  json,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  readAs,
  readMembers,
  text,
  unreadable,
  variantOf,
  withMembers,
  type Members,
  type Reading,
  type Shape,
} from '@berth/domain/shape';
import {
  DONE_ENDS_MAX,
  RENEW_LEASES_MAX,
  TAKE_JOBS_MAX,
  ROUTER_TAKE_WAIT_MAX_MS,
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
} from './job-messages.js';

/** Parts of the largest output that is taken: 64 MiB. */
const OUTPUT_PARTS_MAX = 128;

/** A worker's error text beyond this is cut: it lies in the log, and a traceback's beginning and end say enough. */
export const AGENT_ERROR_MAX_CHARACTERS = 32_000;

const TOKEN_MAX_BYTES = 128;
const TRACEPARENT_MAX_BYTES = 128;
const ATTEMPT_MAX = 1_000_000_000;
const CHUNKS_MAX = 10_000_000;
/** Above the life of any job: a host that was away for long still says what it knows. */
const AGO_MAX_MS = 30 * 24 * 3_600_000;
/** Of an error or a reason. Above any broker's message limit: a report that was refused would be repeated for ever. */
const WORDS_MAX_BYTES = 8 * 1024 ** 2;

const ATTEMPT: Members<AttemptRef> = {
  endpointId: id,
  jobId: id,
  attempt: integer(1, ATTEMPT_MAX),
  token: bytes(TOKEN_MAX_BYTES),
};
const part = integer(0, OUTPUT_PARTS_MAX - 1);

const WISH: Members<WorkerWish> = {
  takeId: id,
  endpointId: id,
  workerId: id,
  slots: integer(1, TAKE_JOBS_MAX),
  waitMs: integer(0, ROUTER_TAKE_WAIT_MAX_MS),
};

type InlinePayload = Extract<Payload, { readonly kind: 'inline' }>;
const INLINE: Members<InlinePayload> = { kind: oneOf(['inline']), json: json(INLINE_OUTPUT_MAX_BYTES) };
const MANIFEST: Members<BlobManifest> = {
  name: id,
  parts: integer(1, OUTPUT_PARTS_MAX),
  sizeBytes: integer(0, OUTPUT_PARTS_MAX * BLOB_PART_BYTES),
  sha256: id,
};
const payload: Shape = variantOf({
  inline: objectOf(INLINE),
  blob: objectOf<Exclude<Payload, InlinePayload>>({ kind: text(), manifest: objectOf(MANIFEST) }),
});
const output = optional(orNull(payload));

type ResultOf<Kind extends DoneResult['kind']> = Extract<DoneResult, { readonly kind: Kind }>;
const words = bytes(WORDS_MAX_BYTES);
const logTail = optional(orNull(listOf(text(LOG_TAIL_CHARACTERS_MAX), LOG_TAIL_LINES_MAX)));
const result: Shape = variantOf({
  completed: objectOf<ResultOf<'completed'>>({ kind: text(), output }),
  failed: objectOf<ResultOf<'failed'>>({ kind: text(), error: words, output }),
  'timed-out': objectOf<ResultOf<'timed-out'>>({ kind: text() }),
  lost: objectOf<ResultOf<'lost'>>({ kind: text(), reason: words, isCharged: flag, logTail }),
  stopped: objectOf<ResultOf<'stopped'>>({ kind: text(), agoMs: integer(0, AGO_MAX_MS), logTail }),
});

const END: Members<AttemptEnd> = {
  ...ATTEMPT,
  result,
  chunks: integer(0, CHUNKS_MAX),
  traceparent: optional(orNull(bytes(TRACEPARENT_MAX_BYTES))),
};

export function readTakeRequest(body: unknown): Reading<TakeRequest> {
  const take = readMembers<TakeRequest>({ wishes: listOf(objectOf(WISH), TAKE_WISHES_MAX, 1) }, body);
  if (take.kind === 'unreadable') return take;
  return readAs({ wishes: take.value.wishes.map((wish) => withMembers(WISH, wish)) });
}

export const readWithdrawMessage = (body: unknown): Reading<WithdrawMessage> =>
  readMembers<WithdrawMessage>({ endpointId: id, workerId: id }, body);

export function readRenewRequest(body: unknown): Reading<RenewRequest> {
  const renew = readMembers<RenewRequest>({ leases: listOf(objectOf(ATTEMPT), RENEW_LEASES_MAX) }, body);
  if (renew.kind === 'unreadable') return renew;
  return readAs({ leases: renew.value.leases.map((lease) => withMembers(ATTEMPT, lease)) });
}

export const readChunkRequest = (body: unknown): Reading<ChunkRequest> =>
  readMembers<ChunkRequest>({ ...ATTEMPT, index: integer(0, CHUNKS_MAX), body: json(CHUNK_MAX_BYTES) }, body);

/** Progress fits into the message, or is none. */
export function readProgressRequest(body: unknown): Reading<ProgressRequest> {
  const progress = readMembers<ProgressRequest>({ ...ATTEMPT, output: objectOf(INLINE) }, body);
  if (progress.kind === 'unreadable') return progress;
  return readAs({ ...progress.value, output: payloadOf(progress.value.output) });
}

export const readDownloadRequest = (body: unknown): Reading<DownloadRequest> =>
  readMembers<DownloadRequest>({ ...ATTEMPT, part }, body);

export const readUploadRequest = (body: unknown): Reading<UploadRequest> =>
  readMembers<UploadRequest>({ ...ATTEMPT, part, base64: bytes(Math.ceil(BLOB_PART_BYTES / 3) * 4) }, body);

/** The ends as they came: one that `readEnd` refuses keeps no other from being taken. */
export function readDoneRequest(body: unknown): Reading<readonly unknown[]> {
  const done = readMembers<{ ends: readonly unknown[] }>({ ends: listOf(() => null, DONE_ENDS_MAX, 1) }, body);
  return done.kind === 'unreadable' ? done : readAs(done.value.ends);
}

export function readEnd(value: unknown): Reading<AttemptEnd> {
  const end = readMembers<AttemptEnd>(END, value);
  if (end.kind === 'unreadable') return unreadable(end.reason);
  const { result: ended, traceparent } = end.value;
  return readAs({ ...end.value, result: resultOf(ended), traceparent: traceparent ?? null });
}

function resultOf(given: DoneResult): DoneResult {
  const { kind } = given;
  switch (kind) {
    case 'completed':
      return { kind, output: outputOf(given.output) };
    case 'failed':
      return { kind, error: cut(given.error), output: outputOf(given.output) };
    case 'timed-out':
      return { kind };
    case 'lost':
      return { kind, reason: cut(given.reason), isCharged: given.isCharged, logTail: given.logTail ?? [] };
    case 'stopped':
      return { kind, agoMs: given.agoMs, logTail: given.logTail ?? [] };
    default:
      return kind satisfies never;
  }
}

const outputOf = (given: Payload | null | undefined): Payload | null => (given == null ? null : payloadOf(given));

const payloadOf = (given: Payload): Payload =>
  given.kind === 'inline'
    ? withMembers(INLINE, given)
    : { kind: given.kind, manifest: withMembers(MANIFEST, given.manifest) };

/** Keeps both ends, where a traceback has its call and its cause. */
function cut(whole: string): string {
  if (whole.length <= AGENT_ERROR_MAX_CHARACTERS) return whole;
  const half = AGENT_ERROR_MAX_CHARACTERS / 2;
  const left = whole.length - AGENT_ERROR_MAX_CHARACTERS;
  return `${whole.slice(0, half)}\n… ${left} characters left out …\n${whole.slice(-half)}`.toWellFormed();
}
