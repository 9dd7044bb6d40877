import { PlatformError } from '@berth/domain';
import { retry, type Clock, type Random } from '@berth/lifecycle';

/** True where no owner answered in time: the same may be asked again. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof PlatformError && error.code === 'service-unavailable';

/** About a second and a half: the SDKs give up at the first 5xx, and most of a broker's silences are shorter. */
const PATIENCE = { attemptsMax: 5, baseDelayMs: 100, maxDelayMs: 800 } as const;

/** Asks again where the store does not answer, before the caller hears of it. For reads and writes safe to repeat. */
export const retryUnavailable = <T>(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  action: () => Promise<T>,
): Promise<T> => retry(action, { ...PATIENCE, clock, random, isRetriable: isUnavailable });
