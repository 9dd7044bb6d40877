import {
  JOB_STATES,
  type AttemptProof,
  type CancelCommand,
  type EndTryCommand,
  type FinishCommand,
  type GiveUpCommand,
  type JobBody,
  type JobWish,
  type LetGoCommand,
  type PageKey,
  type ProgressCommand,
  type PurgeCommand,
  type ReplaceLifeCommand,
  type RetryCommand,
  type SubmitCommand,
  type TakeWish,
} from '@berth/domain';
import { RENEW_LEASES_MAX, TAKE_JOBS_MAX, ROUTER_TAKE_WAIT_MAX_MS } from '../agent/index.js';
import {
  amount,
  count,
  flag,
  id,
  instant,
  integer,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  text,
  variantOf,
  type Shape,
} from '@berth/domain/shape';
import type { JobWatcher, OwnerCommand, OwnerVerb, QuestionOf, TakeAsker } from './owner-questions.js';
import { PAYLOAD_MAX_CHARACTERS, payload } from './payload-shape.js';

const COMMAND_ERROR_MAX_CHARACTERS = 1024 * 1024;
const COMMAND_LOG_LINES_MAX = 100;
/** Of one request, or of one page of a list. */
const JOBS_MAX = 1_000;
const ATTEMPTED_MAX = 1_000_000_000;

/** Without what names the variant. */
type Rest<Variant> = Omit<Variant, 'kind'>;

const jobWish = objectOf<JobWish>({
  jobId: id,
  origin: oneOf(['run', 'runsync']),
  retentionMs: amount(),
  executionTimeoutMs: amount(),
  isLowPriority: flag,
  webhook: orNull(text()),
  bodyBytes: count,
  ttlMs: amount(),
  body: objectOf<JobBody>({
    input: payload,
    extras: text(PAYLOAD_MAX_CHARACTERS),
    sealedExtras: orNull(text(PAYLOAD_MAX_CHARACTERS)),
    traceparent: orNull(text()),
  }),
});

const proofMembers = { jobId: id, attempt: integer(0, ATTEMPTED_MAX), token: text(), hostId: id } as const;
const logTail = listOf(text(), COMMAND_LOG_LINES_MAX);

type SentSubmission = Omit<SubmitCommand, 'takers' | 'bounds'>;

const COMMAND_SHAPES: { readonly [Kind in OwnerCommand['kind']]: Shape } = {
  submit: objectOf<Rest<SentSubmission>>({
    sentAtMs: instant,
    jobs: listOf(jobWish, JOBS_MAX),
    key: orNull(
      objectOf<NonNullable<SubmitCommand['key']>>({
        name: text(),
        fingerprint: text(),
        firstId: id,
        size: count,
        item: count,
      }),
    ),
  }),
  cancel: objectOf<Rest<CancelCommand>>({ sentAtMs: instant, jobId: id }),
  retry: objectOf<Rest<RetryCommand>>({ sentAtMs: instant, jobId: id, retryId: id }),
  'replace-life': objectOf<Rest<ReplaceLifeCommand>>({ sentAtMs: instant, jobId: id, leftMs: amount() }),
  purge: objectOf<Rest<PurgeCommand>>({ sentAtMs: instant, purgeId: id }),
  progress: objectOf<Rest<ProgressCommand>>({ ...proofMembers, output: payload, outputBytes: count }),
  finish: objectOf<Rest<FinishCommand>>({
    ...proofMembers,
    state: oneOf(['COMPLETED', 'FAILED', 'TIMED_OUT'] satisfies FinishCommand['state'][]),
    error: orNull(text(COMMAND_ERROR_MAX_CHARACTERS)),
    output: orNull(payload),
    outputBytes: count,
    chunks: count,
    logTail,
  }),
  'give-up': objectOf<Rest<GiveUpCommand>>({
    ...proofMembers,
    reason: text(COMMAND_ERROR_MAX_CHARACTERS),
    isCharged: flag,
    logTail,
    fraction: amount(),
  }),
  'let-go': objectOf<Rest<LetGoCommand>>({ ...proofMembers, agoMs: amount(), logTail }),
  'end-try': objectOf<Rest<EndTryCommand>>({
    jobId: id,
    attempt: integer(0, ATTEMPTED_MAX),
    token: text(),
    isSuccess: flag,
    statusCode: orNull(count),
    error: orNull(text(COMMAND_ERROR_MAX_CHARACTERS)),
  }),
};

const proof = objectOf<AttemptProof>(proofMembers);

/** The shape of the question of each verb. Only routers may ask, so it is to stop broken questions, and not lies. */
export const OWNER_QUESTION_SHAPES: { readonly [Verb in OwnerVerb]: Shape } = {
  perform: objectOf<QuestionOf<'perform'>>({ command: variantOf(COMMAND_SHAPES) }),
  find: objectOf<QuestionOf<'find'>>({
    jobId: id,
    watcher: orNull(objectOf<JobWatcher>({ router: id, news: oneOf(['any', 'end']) })),
    wantsTrace: optional(flag),
  }),
  describe: objectOf<QuestionOf<'describe'>>({ jobId: id }),
  list: objectOf<QuestionOf<'list'>>({
    before: orNull(objectOf<PageKey>({ createdAtMs: instant, jobId: id })),
    limit: integer(0, JOBS_MAX),
    statuses: listOf(oneOf(JOB_STATES), JOB_STATES.length),
    alsoIds: listOf(id, JOBS_MAX),
  }),
  count: objectOf<QuestionOf<'count'>>({}),
  deliveries: objectOf<QuestionOf<'deliveries'>>({ jobId: id }),
  take: objectOf<QuestionOf<'take'>>({
    wish: objectOf<TakeWish>({
      takeId: text(),
      hostId: id,
      workerId: id,
      slots: integer(0, TAKE_JOBS_MAX),
      secret: text(),
    }),
    waitMs: integer(0, ROUTER_TAKE_WAIT_MAX_MS),
  }),
  'take-back': objectOf<QuestionOf<'take-back'>>({
    asker: objectOf<TakeAsker>({ takeId: text(), secret: text() }),
    command: variantOf({ 'give-up': COMMAND_SHAPES['give-up'] }),
  }),
  withdraw: objectOf<QuestionOf<'withdraw'>>({ hostId: id, workerId: id }),
  renew: objectOf<QuestionOf<'renew'>>({ proofs: listOf(proof, RENEW_LEASES_MAX) }),
  hold: objectOf<QuestionOf<'hold'>>({
    proof,
    chunk: orNull(objectOf<{ index: number; bytes: number }>({ index: count, bytes: count })),
  }),
};
