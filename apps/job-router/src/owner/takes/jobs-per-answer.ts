import { EXTRAS_MAX_BYTES, INLINE_INPUT_MAX_BYTES } from '@berth/domain';

/** Larger than any job in an answer: input and other members up to their limits, every character escaped. */
const LARGEST_JOB_BYTES = 2 * (INLINE_INPUT_MAX_BYTES + EXTRAS_MAX_BYTES) + 4 * 1024;

/** How many jobs fit into one message whatever they hold. */
export const jobsPerAnswer = (messageMaxBytes: number): number =>
  Math.max(1, Math.floor(messageMaxBytes / LARGEST_JOB_BYTES));
