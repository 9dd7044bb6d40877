import { ACCOUNT_LIMITS_DEFAULT, type AccountLimits } from '../../account-limits/index.js';
import type { AccountId } from '../../ids.js';
import type { Worker } from '../../worker/index.js';

interface Kept {
  readonly workers: number;
  readonly gpus: number;
}

/** What the limits of accounts leave once those workers are gone that are leaving. */
export class QuotaRoom {
  readonly #limits: ReadonlyMap<AccountId, AccountLimits>;
  readonly #kept = new Map<AccountId, Kept>();

  /** @param limits of accounts that are not at the defaults */
  constructor(limits: ReadonlyMap<AccountId, AccountLimits>) {
    this.#limits = limits;
  }

  /** One more worker of the account stays, or, with -1, one fewer does. */
  keep(accountId: AccountId, gpuCount: number, more: 1 | -1 = 1): void {
    const { gpus, workers } = this.#keptBy(accountId);
    this.#kept.set(accountId, { workers: workers + more, gpus: gpus + more * gpuCount });
  }

  /**
   * Those that have to go for one more worker with so many GPUs: the first that are needed, without those that need not.
   * Null: their going does not help.
   */
  victimsFor(accountId: AccountId, gpuCount: number, candidates: readonly Worker[]): readonly Worker[] | null {
    const fits = (gone: readonly Worker[]): boolean => this.#fits(accountId, gpuCount, gone);
    if (fits([])) return [];
    const enough = candidates.findIndex((_, index) => fits(candidates.slice(0, index + 1)));
    if (enough < 0) return null;
    let victims: readonly Worker[] = candidates.slice(0, enough + 1);
    for (const spared of victims.toReversed()) {
      const rest = victims.filter((worker) => worker !== spared);
      if (fits(rest)) victims = rest;
    }
    return victims;
  }

  #fits(accountId: AccountId, gpuCount: number, gone: readonly Worker[]): boolean {
    const limits = this.#limits.get(accountId) ?? ACCOUNT_LIMITS_DEFAULT;
    const { gpus, workers } = this.#keptBy(accountId);
    const gpusLeft = gpus - gone.reduce((sum, { resources }) => sum + resources.gpuCount, 0);
    const hasGpus = gpuCount === 0 || gpusLeft + gpuCount <= limits.gpus;
    return workers - gone.length + 1 <= limits.workers && hasGpus;
  }

  #keptBy(accountId: AccountId): Kept {
    return this.#kept.get(accountId) ?? { workers: 0, gpus: 0 };
  }
}
