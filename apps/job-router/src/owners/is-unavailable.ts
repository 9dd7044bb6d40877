import { PlatformError } from '@berth/domain';

/** True where nobody who could answer did so in time: the same may be asked again. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof PlatformError && error.code === 'service-unavailable';
