import type { AccountBody, AccountWithLimitsBody, UpdateAccountDto } from '@berth/contracts/http';
import { ACCOUNT_LIMIT_NAMES, effectiveLimits, type LimitChange } from '@berth/domain';
import type { Account } from './accounts.store.js';

export const toAccountBody = ({ createdAtMs, id, name }: Account): AccountBody => ({
  id,
  name,
  createdAt: new Date(createdAtMs).toISOString(),
});

export const toAccountWithLimitsBody = (account: Account): AccountWithLimitsBody => ({
  ...toAccountBody(account),
  limits: effectiveLimits(account.limits),
  overriddenLimits: ACCOUNT_LIMIT_NAMES.filter((name) => account.limits[name] !== undefined),
});

export const toLimitChange = ({ limits = {} }: UpdateAccountDto): LimitChange => limits;
