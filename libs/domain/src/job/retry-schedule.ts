/** A job is started at most this often at the expense of a lost worker or host (API decisions 2.7). */
export const CHARGED_ATTEMPTS_MAX = 3;

/**
 * How often the job was tried before, as callers and workers are told. An attempt that was given back unstarted, or that
 * a draining host let go, is nobody's failure and does not show.
 */
export const retriesOf = (job: { readonly charged: number }): number => Math.min(job.charged, CHARGED_ATTEMPTS_MAX - 1);

/**
 * A worker that ran out of time is told to stop and is killed 10 s later; a little more for the way. Until its host has
 * said that it let go, its job is given to nobody else before this.
 */
export const STOP_SETTLES_MS = 12_000;

const BASE_MS = 1_000;
const CEILING_MS = 30_000;
const JITTER = 0.2;

/**
 * Delay before the attempt after `charged` losses: 1 s × 2^(charged-1), ± 20 %, at most 30 s.
 *
 * @param fraction chance in [0, 1), given by the caller
 */
export function retryDelayMs(charged: number, fraction: number): number {
  if (charged <= 0) return 0;
  const delayMs = BASE_MS * 2 ** (charged - 1) * (1 - JITTER + 2 * JITTER * fraction);
  return Math.round(Math.min(CEILING_MS, delayMs));
}
