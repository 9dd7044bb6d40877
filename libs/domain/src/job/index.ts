export { LOG_TAIL_CHARACTERS_MAX, LOG_TAIL_LINES_MAX, withAttempt, withStop } from './attempt-history.js';
export { type AttemptPlace, type AttemptRecord, type CurrentAttempt } from './attempt.js';
export { attachmentTtlMs, disappearsAtMs } from './expiry.js';
export { JOB_STATES, JOB_TRANSITIONS, canMove, isEnded, type JobState } from './job-state.js';
export { type JobSight, type QueueSight } from './job-sight.js';
export { jobTimes } from './job-times.js';
export {
  BATCH_REQUESTS_MAX,
  BLOB_PART_BYTES,
  CHUNK_MAX_BYTES,
  EXTRAS_MAX_BYTES,
  INLINE_INPUT_MAX_BYTES,
  INLINE_OUTPUT_MAX_BYTES,
  type BlobManifest,
  type Payload,
} from './payload.js';
export {
  EXECUTION_TIMEOUT_DEFAULT_MS,
  EXECUTION_TIMEOUT_ERROR,
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
  type JobOrigin,
} from './policy.js';
export { CHARGED_ATTEMPTS_MAX, STOP_SETTLES_MS, retriesOf, retryDelayMs } from './retry-schedule.js';
