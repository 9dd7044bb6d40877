export {
  ACCOUNT_LIMITS,
  ACCOUNT_LIMIT_NAMES,
  type AccountLimit,
  type AccountLimitName,
  type AccountLimits,
  type LimitOverrides,
} from './account-limits.js';
export { changeLimits, type LimitChange } from './change-limits.js';
export { ACCOUNT_LIMITS_DEFAULT, effectiveLimits } from './effective-limits.js';
export { limitClause, limitDetail, limitReached } from './limit-reached.js';
