import { PlatformError } from '@berth/domain';

const TITLES = {
  logs: 'The store of jobs',
  blobs: 'The store of large inputs and outputs',
} as const;

export type Store = keyof typeof TITLES;

export const STORES = Object.keys(TITLES) as readonly Store[];

const RETRY_AFTER_SECONDS = 10;

/** The refusal of a store that keeps its last room for accepted jobs. */
export const storeFullDetail = (store: Store): string =>
  `${TITLES[store]} is almost full and takes no new jobs until others have ended or expired.`;

export const storeFull = (store: Store): PlatformError =>
  new PlatformError('service-unavailable', storeFullDetail(store), { retryAfterSeconds: RETRY_AFTER_SECONDS });
