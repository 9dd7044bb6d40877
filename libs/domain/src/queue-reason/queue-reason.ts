/** Why a job waits, with what the word means. `explainQueue` knows which comes first. */
export const QUEUE_REASONS = {
  'retry-delay': 'it waits for the instant of its next attempt',
  'workers-max-zero': 'the endpoint may have no worker',
  'waiting-for-worker': 'workers take jobs, and others start before it or all of them are busy',
  'at-max-workers': 'all workers that the endpoint may have are busy or leaving',
  'worker-starting': 'a worker is on its way',
  throttled: 'starts are delayed because the last ones failed',
  'image-error': 'the image cannot be had, or its container fails again and again',
  'no-hosts': 'there is no host',
  'no-capacity': 'no host has room for another worker',
  'low-priority': 'there is no worker, and it waits for one that other demand brings',
  'awaiting-decision': 'it has just been queued, and the control plane has not decided yet',
  unknown: 'the control plane is silent',
} as const;

export type QueueReason = keyof typeof QUEUE_REASONS;
