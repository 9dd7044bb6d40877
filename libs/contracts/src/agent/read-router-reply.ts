import type { BlobManifest, Payload } from '@berth/domain';
import {
  amount,
  count,
  id,
  listOf,
  objectOf,
  oneOf,
  orNull,
  readShape,
  text,
  variantOf,
  type Members,
  type Reading,
  type Shape,
} from '@berth/domain/shape';
import { wireErrorShape } from '../wire/envelope.js';
import {
  RENEW_LEASES_MAX,
  TAKE_JOBS_MAX,
  type AttemptRef,
  type DoneReply,
  type DownloadReply,
  type EndAnswer,
  type RenewReply,
  type ReportReply,
  type TakeReply,
  type TakenJob,
  type WishAnswer,
} from './job-messages.js';

/** As long as the broker lets it be. */
const words = text(Number.POSITIVE_INFINITY);

type InlinePayload = Extract<Payload, { readonly kind: 'inline' }>;
type BlobPayload = Extract<Payload, { readonly kind: 'blob' }>;

const payload: Shape = variantOf({
  inline: objectOf<InlinePayload>({ kind: text(), json: words }),
  blob: objectOf<BlobPayload>({
    kind: text(),
    manifest: objectOf<BlobManifest>({ name: id, parts: count, sizeBytes: count, sha256: id }),
  }),
});

const ATTEMPT: Members<AttemptRef> = { endpointId: id, jobId: id, attempt: count, token: text() };

const takenJob = objectOf<TakenJob>({
  ...ATTEMPT,
  input: payload,
  extras: words,
  executionTimeoutMs: amount(),
  expiresInMs: amount(),
  delayTimeMs: amount(),
  retries: count,
  traceparent: orNull(text()),
});

type JobsAnswer = Extract<WishAnswer, { readonly kind: 'jobs' }>;

const withoutJobs = objectOf<Omit<JobsAnswer, 'jobs'>>({ takeId: id, kind: text() });
const wishAnswer: Shape = variantOf({
  jobs: objectOf<JobsAnswer>({ takeId: id, kind: text(), jobs: listOf(takenJob, TAKE_JOBS_MAX) }),
  none: withoutJobs,
  'not-placed': withoutJobs,
  unanswered: withoutJobs,
});

const OUTCOME = oneOf(['recorded', 'superseded'] satisfies readonly ReportReply['outcome'][]);
const recorded = objectOf<Extract<EndAnswer, ReportReply>>({ place: count, outcome: OUTCOME });
const refused = objectOf<Exclude<EndAnswer, ReportReply>>({
  place: count,
  error: wireErrorShape,
});
const endAnswer: Shape = (value, path) => (recorded(value, path) === null ? null : refused(value, path));

const outcomes = listOf(oneOf(['renewed', 'lost', 'unknown']), RENEW_LEASES_MAX);

/** An answer that cannot be read is left out: its wish, or its end, waits for another one. */
export const readTakeReply = (body: unknown): TakeReply => ({ answers: readable<WishAnswer>(body, wishAnswer) });
export const readDoneReply = (body: unknown): DoneReply => ({ answers: readable<EndAnswer>(body, endAnswer) });

export const readRenewReply = (body: unknown): Reading<RenewReply> =>
  readShape(objectOf<RenewReply>({ outcomes }), body);
export const readReportReply = (body: unknown): Reading<ReportReply> =>
  readShape(objectOf<ReportReply>({ outcome: OUTCOME }), body);
export const readDownloadReply = (body: unknown): Reading<DownloadReply> =>
  readShape(objectOf<DownloadReply>({ base64: orNull(words) }), body);

function readable<Answer>(body: unknown, shape: Shape): readonly Answer[] {
  const { answers } = (body ?? {}) as { readonly answers?: unknown };
  if (!Array.isArray(answers)) return [];
  return answers.filter((answer): answer is Answer => shape(answer, '$') === null);
}
