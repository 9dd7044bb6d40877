import { ACCOUNT_LIMIT_NAMES, type AccountLimitName, type LimitOverrides } from './account-limits.js';

/** What an operator asks for: a number sets a limit, null takes it back to its default, what is absent stays. */
export type LimitChange = Readonly<Partial<Record<AccountLimitName, number | null | undefined>>>;

/** The overrides after the change. Values are within their bounds by then: the reader of the request sees to that. */
export function changeLimits(overrides: LimitOverrides, change: LimitChange): LimitOverrides {
  const changed = ACCOUNT_LIMIT_NAMES.flatMap((name) => {
    const value = change[name] === undefined ? overrides[name] : change[name];
    return value === undefined || value === null ? [] : [[name, value] as const];
  });
  return Object.fromEntries(changed);
}
