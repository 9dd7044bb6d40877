import { PlatformError } from '@berth/domain';

const TITLES = {
  logs: 'The store of jobs',
  blobs: 'The store of large inputs and outputs',
} as const;

export type Store = keyof typeof TITLES;

export const STORES = Object.keys(TITLES) as readonly Store[];

const RETRY_AFTER_SECONDS = 10;

/** What a store says that keeps the room that is left for what was accepted. */
export const storeFullDetail = (store: Store): string =>
  `${TITLES[store]} is almost full and takes no new jobs until others have ended or expired.`;

export const storeFull = (store: Store): PlatformError =>
  new PlatformError('service-unavailable', storeFullDetail(store), { retryAfterSeconds: RETRY_AFTER_SECONDS });
