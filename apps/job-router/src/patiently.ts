import { PlatformError } from '@berth/domain';
import type { JobStore } from '@berth/jobs';
import { retry } from '@berth/lifecycle';

/** About a second and a half: the SDKs give up at the first 5xx, and most of a broker's silences are shorter. */
const PATIENCE = { attemptsMax: 5, baseDelayMs: 100, maxDelayMs: 800 } as const;

/** Asks again where the store does not answer, before the caller hears of it. For reads and writes safe to repeat. */
export const patiently = <T>(store: Pick<JobStore, 'clock' | 'random'>, action: () => Promise<T>): Promise<T> =>
  retry(action, { ...PATIENCE, clock: store.clock, random: store.random, isRetriable: isUnavailable });

export const isUnavailable = (error: unknown): boolean =>
  error instanceof PlatformError && error.code === 'service-unavailable';
