import type { AccountId } from '@berth/domain';

/** The windows in which every account's requests are counted. */
export const RATE_WINDOWS = [
  { name: 'minute', seconds: 60 },
  { name: 'hour', seconds: 3_600 },
  { name: 'day', seconds: 86_400 },
] as const;

type RateWindowName = (typeof RATE_WINDOWS)[number]['name'];

/** Requests that each window admits, at least 1; null: as many as come. */
export type RateQuotas = Readonly<Record<RateWindowName, number | null>>;

/** How the windows stand after a request. */
export interface RateCount {
  readonly isAdmitted: boolean;
  /** By the clock that all processes share. */
  readonly nowMs: number;
  /** Admitted in the windows of that instant. */
  readonly used: Readonly<Record<RateWindowName, number>>;
}

/** Counts requests over all processes. */
export interface RateWindows {
  /** Counts one request in every window, or in none when one has no room left. @throws when nobody can tell */
  count(accountId: AccountId, quotas: RateQuotas): Promise<RateCount>;
}
