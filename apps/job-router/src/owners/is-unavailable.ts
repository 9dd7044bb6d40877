import { PlatformError } from '@berth/domain';

/** True where no owner answered in time: the same may be asked again. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof PlatformError && error.code === 'service-unavailable';
