import { ACCOUNT_LIMITS, ACCOUNT_LIMIT_NAMES, type AccountLimits, type LimitOverrides } from './account-limits.js';

/** The limits that count, of an account with these overrides. */
export const effectiveLimits = (overrides: LimitOverrides): AccountLimits =>
  Object.fromEntries(
    ACCOUNT_LIMIT_NAMES.map((name) => [name, overrides[name] ?? ACCOUNT_LIMITS[name].default]),
  ) as AccountLimits;

/** Of an account for which nobody has set anything. */
export const ACCOUNT_LIMITS_DEFAULT: AccountLimits = effectiveLimits({});
