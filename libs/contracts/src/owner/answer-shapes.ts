import { JOB_STATES, type CommandOutcome, type QueueSight } from '@berth/domain';
import {
  amount,
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
  variantOf,
  type Shape,
} from '@berth/domain/shape';
import type { ChunkLimitName, FoundJob, OwnerVerb } from './owner-questions.js';
import { payload } from './payload-shape.js';

const anyObject: Shape = objectOf<object>({});
/** Far above what any verb answers with: the message's own size is the bound that counts. */
const LIST_MAX = 100_000;
const manyObjects = listOf(anyObject, LIST_MAX);
const pageOf = (entry: Shape): Shape =>
  objectOf<{ entries: unknown; through: unknown }>({ entries: listOf(entry, LIST_MAX), through: orNull(anyObject) });

type OutcomeMembers<Kind extends CommandOutcome['kind']> = Omit<
  Extract<CommandOutcome, { readonly kind: Kind }>,
  'kind'
>;

const OUTCOME_SHAPES: { readonly [Kind in CommandOutcome['kind']]: Shape } = {
  dropped: anyObject,
  refused: objectOf<OutcomeMembers<'refused'>>({ reason: id, code: id, detail: text(), retryAfterMs: orNull(count) }),
  accepted: objectOf<OutcomeMembers<'accepted'>>({ jobIds: listOf(id, LIST_MAX), isReplayed: flag }),
  'named-before': objectOf<OutcomeMembers<'named-before'>>({ firstId: id, size: count, accepted: count }),
  takes: objectOf<OutcomeMembers<'takes'>>({ takes: manyObjects }),
  recorded: anyObject,
  superseded: anyObject,
  later: objectOf<OutcomeMembers<'later'>>({ atMs: instant }),
  job: objectOf<OutcomeMembers<'job'>>({ jobId: id, state: oneOf(JOB_STATES) }),
  purged: objectOf<OutcomeMembers<'purged'>>({ removed: count }),
  begun: objectOf<OutcomeMembers<'begun'>>({ untilMs: instant }),
  looked: anyObject,
  opened: anyObject,
  deleted: anyObject,
};

/** Far above what a job may say of its failure. */
const ERROR_MAX_CHARACTERS = 1024 * 1024;

const FOUND_JOB = objectOf<FoundJob>({
  endpointId: id,
  jobId: id,
  state: oneOf(JOB_STATES),
  attempt: count,
  queuedAtMs: instant,
  notBeforeMs: instant,
  endedAtMs: orNull(instant),
  expiresAtMs: instant,
  isLowPriority: flag,
  delayTimeMs: instant,
  executionTimeMs: instant,
  retries: count,
  workerId: orNull(text()),
  error: orNull(text(ERROR_MAX_CHARACTERS)),
  chunks: count,
  output: orNull(payload),
  queue: orNull(
    objectOf<QueueSight>({
      position: orNull(count),
      running: count,
      endedLastMinute: count,
      executionMsLastMinute: amount(),
    }),
  ),
  traceparent: optional(orNull(text())),
});

/**
 * The shape of the answer of each verb, as far as an asker's code would else fail of it: deeper members are believed,
 * since only routers may answer.
 */
export const OWNER_ANSWER_SHAPES: { readonly [Verb in OwnerVerb]: Shape } = {
  perform: variantOf(OUTCOME_SHAPES),
  find: orNull(FOUND_JOB),
  describe: orNull(anyObject),
  list: pageOf(anyObject),
  count: anyObject,
  deliveries: orNull(manyObjects),
  take: manyObjects,
  'take-back': variantOf(OUTCOME_SHAPES),
  withdraw: orNull(anyObject),
  renew: listOf(text(), LIST_MAX),
  hold: variantOf({
    held: anyObject,
    superseded: anyObject,
    full: objectOf<{ limit: ChunkLimitName; maxBytes: number }>({
      limit: oneOf(['chunkBytes', 'chunkBytesPerAttempt', 'chunkRoom']),
      maxBytes: count,
    }),
  }),
};
