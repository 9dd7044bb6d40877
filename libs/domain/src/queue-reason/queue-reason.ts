/** Why a job waits, in one word. The glossary says what each means; `explainQueue` knows which comes first. */
export const QUEUE_REASONS = [
  'retry-delay',
  'workers-max-zero',
  'waiting-for-worker',
  'at-max-workers',
  'worker-starting',
  'start-delayed',
  'throttled',
  'image-error',
  'no-hosts',
  'account-quota',
  'no-capacity',
  'low-priority',
  'awaiting-decision',
  'unknown',
] as const;

export type QueueReason = (typeof QUEUE_REASONS)[number];
