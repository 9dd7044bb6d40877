import {
  count,
  flag,
  id,
  instant,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  text,
  type Shape,
} from '@berth/contracts';
import {
  BLOB_PART_BYTES,
  JOB_STATES,
  type AttemptRecord,
  type BlobManifest,
  type CurrentAttempt,
  type Job,
  type JobReservation,
  type Milestone,
} from '@berth/domain';

/** Above what any writer puts into a record; a message is bounded by the broker. */
const TEXT_MAX = 64 * 1024 ** 2;
const LIST_MAX = 100_000;
/** A reader prepares for as many parts as a manifest names. */
const PARTS_MAX = 4_096;

const anyText = text(TEXT_MAX);
const state = oneOf(JOB_STATES);

const manifestMembers = objectOf<BlobManifest>({ name: id, parts: count, sizeBytes: count, sha256: text() });

/** Parts that do not hold the size would let a short record ask a reader for the whole memory. */
const manifest: Shape = (value, path) => {
  const fault = manifestMembers(value, path);
  if (fault !== null) return fault;
  const { parts, sizeBytes } = value as BlobManifest;
  const isFit = parts <= PARTS_MAX && parts === Math.max(1, Math.ceil(sizeBytes / BLOB_PART_BYTES));
  return isFit ? null : `${path}.parts does not fit the size`;
};

const inlinePayload = objectOf<{ readonly json: string }>({ json: anyText });
const blobPayload = objectOf<{ readonly manifest: BlobManifest }>({ manifest });
const payload: Shape = (value, path) => {
  const { kind } = (value ?? {}) as { readonly kind?: unknown };
  if (kind === 'inline') return inlinePayload(value, path);
  return kind === 'blob' ? blobPayload(value, path) : `${path}.kind is no word of inline, blob`;
};

const currentAttempt = objectOf<CurrentAttempt>({
  token: text(),
  hostId: text(),
  workerId: text(),
  startedAtMs: instant,
  deadlineAtMs: instant,
});

const attemptRecord = objectOf<AttemptRecord>({
  attempt: count,
  hostId: text(),
  workerId: text(),
  startedAtMs: instant,
  endedAtMs: instant,
  outcome: oneOf([...JOB_STATES, 'lost']),
  reason: anyText,
  stoppedAtMs: optional(orNull(instant)),
  logTail: optional(listOf(anyText, LIST_MAX)),
});

/** A record's job as it lies in the stream: what its first writers left out may be absent. */
export const jobRecordShape: Shape = objectOf<Job>({
  id,
  endpointId: id,
  accountId: text(),
  origin: oneOf(['run', 'runsync']),
  state,
  attempt: count,
  charged: count,
  current: orNull(currentAttempt),
  createdAtMs: instant,
  queuedAtMs: instant,
  notBeforeMs: instant,
  endedAtMs: orNull(instant),
  expiresAtMs: instant,
  retentionMs: count,
  executionTimeoutMs: count,
  lowPriority: flag,
  input: payload,
  extras: anyText,
  sealedExtras: optional(orNull(anyText)),
  webhook: orNull(anyText),
  output: orNull(payload),
  error: orNull(anyText),
  chunks: count,
  history: listOf(attemptRecord, LIST_MAX),
  milestones: optional(listOf(objectOf<Milestone>({ sequence: count, state, attempt: count }), LIST_MAX)),
  reservation: optional(orNull(objectOf<JobReservation>({ name: text(), item: count }))),
  traceparent: orNull(text()),
  mutation: text(),
});
