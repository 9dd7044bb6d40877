import { JOB_STATES, TOLD_TEXT_MAX, type JobDetail, type JobSummary, type ToldAttempt } from '@berth/domain';
import {
  count,
  id,
  instant,
  listOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  readShape,
  text,
  type Shape,
} from '@berth/domain/shape';
import type { Reading } from '@berth/domain/shape';
import { HISTORY_PAGE_MAX, type HistoryGetReply, type HistoryListReply } from './history-messages.js';

/** Far above what the history keeps of a job. */
const LISTED_ATTEMPTS_MAX = 1_000;
const LISTED_LOG_LINES_MAX = 1_000;

const SUMMARY: Readonly<Record<keyof JobSummary, Shape>> = {
  jobId: id,
  status: oneOf(JOB_STATES),
  origin: oneOf(['run', 'runsync']),
  createdAtMs: instant,
  startedAtMs: orNull(instant),
  endedAtMs: orNull(instant),
  delayTimeMs: instant,
  executionTimeMs: instant,
  hostId: orNull(text()),
  workerId: orNull(text()),
  attempts: count,
  error: orNull(text(TOLD_TEXT_MAX)),
};

const ATTEMPT = objectOf<ToldAttempt>({
  attempt: count,
  hostId: orNull(text()),
  workerId: orNull(text()),
  startedAtMs: orNull(instant),
  endedAtMs: orNull(instant),
  stoppedAtMs: optional(orNull(instant)),
  outcome: orNull(text()),
  reason: orNull(text(TOLD_TEXT_MAX)),
  logTail: optional(listOf(text(TOLD_TEXT_MAX), LISTED_LOG_LINES_MAX)),
});

const DETAIL = objectOf<JobDetail>({
  ...SUMMARY,
  attemptList: listOf(ATTEMPT, LISTED_ATTEMPTS_MAX),
  webhook: orNull(text()),
});

const LIST_REPLY = objectOf<HistoryListReply>({
  jobs: listOf(objectOf<JobSummary>(SUMMARY), HISTORY_PAGE_MAX),
  completeUntilMs: orNull(instant),
});

const GET_REPLY = objectOf<HistoryGetReply>({ job: orNull(DETAIL), completeUntilMs: orNull(instant) });

/** The answer of the control plane, perhaps of another version, to a question for a list. */
export const readHistoryList = (reply: unknown): Reading<HistoryListReply> => readShape(LIST_REPLY, reply);

/** The same for a question about one job. */
export const readHistoryJob = (reply: unknown): Reading<HistoryGetReply> => readShape(GET_REPLY, reply);
