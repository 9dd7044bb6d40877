import { PlatformError } from '../errors/index.js';
import { ACCOUNT_LIMITS, type AccountLimitName } from './account-limits.js';

/** The bound, and the name under which an operator changes it: a sentence without its full stop. */
export const limitClause = (name: AccountLimitName, limit: number): string =>
  `${ACCOUNT_LIMITS[name].reached(limit)} (account limit ${name})`;

/** What a caller is told. */
export const limitDetail = (name: AccountLimitName, limit: number): string => `${limitClause(name, limit)}.`;

/** @param retryAfterSeconds after which there may be room again */
export const limitReached = (name: AccountLimitName, limit: number, retryAfterSeconds: number): PlatformError =>
  new PlatformError('limit-reached', limitDetail(name, limit), { retryAfterSeconds });
