export { LOG_TAIL_CHARACTERS_MAX, LOG_TAIL_LINES_MAX, withAttempt, withStop } from './attempt-history.js';
export {
  ATTACHMENT_SLACK_MS,
  PURGED_EXPIRY_MS,
  PURGED_RECORD_MS,
  attachmentTtlMs,
  disappearsAtMs,
  isGone,
  isPurged,
  recordTtlMs,
} from './expiry.js';
export { JOB_STATES, JOB_TRANSITIONS, canMove, isEnded, type JobState } from './job-state.js';
export { jobTimes, type JobTimes } from './job-times.js';
export {
  jobKeyOf,
  type AttemptRecord,
  type CurrentAttempt,
  type Job,
  type JobReservation,
  type Milestone,
} from './job.js';
export { isEnd, milestonesBehind, requeuesOf } from './milestones.js';
export {
  BLOB_PART_BYTES,
  CHUNK_MAX_BYTES,
  INLINE_INPUT_MAX_BYTES,
  INLINE_OUTPUT_MAX_BYTES,
  type BlobManifest,
  type Payload,
} from './payload.js';
export {
  EXECUTION_TIMEOUT_DEFAULT_MS,
  EXECUTION_TIMEOUT_MAX_MS,
  EXECUTION_TIMEOUT_MIN_MS,
  LIFE_MIN_MS,
  TTL_DEFAULT_MS,
  TTL_MAX_MS,
  TTL_MIN_MS,
  WAIT_DEFAULT_MS,
  WAIT_MAX_MS,
  WAIT_MIN_MS,
  retentionMs,
} from './policy.js';
export { purgeJob } from './purge-job.js';
export { replaceLife } from './replace-life.js';
export { STOP_SETTLES_MS, retryJob } from './retry-job.js';
export { ATTEMPTS_MAX, retriesOf, retryDelayMs } from './retry-schedule.js';
export { settleStop, type Stop } from './settle-stop.js';
export { stateDiagram } from './state-diagram.js';
export {
  EXECUTION_TIMEOUT_ERROR,
  cancelJob,
  finishJob,
  loseAttempt,
  reportProgress,
  takeJob,
  timeOutJob,
  type Loss,
  type Progress,
  type Report,
  type Result,
  type Taker,
} from './transitions.js';
export { type Refusal, type Verdict } from './verdict.js';
