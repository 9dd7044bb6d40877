import { ACCOUNT_LIMITS_DEFAULT, limitClause, type AccountLimits } from '../../account-limits/index.js';
import type { Host } from '../../host/index.js';
import type { AccountId } from '../../ids.js';
import { unplaced, type Unplaced } from '../../placement/index.js';
import type { WorkerResources } from '../../worker/index.js';

/** What the workers of one account take, those that leave included: their places are not free yet. */
interface Taken {
  workers: number;
  gpus: number;
  vcpus: number;
}

/** What each account has of the fleet while workers are handed out: how large its share is, and what its limits allow. */
export class AccountShares {
  readonly #whole: { readonly gpus: number; readonly vcpus: number };
  readonly #limits: ReadonlyMap<AccountId, AccountLimits>;
  readonly #taken = new Map<AccountId, Taken>();

  /** @param limits of accounts that are not at the defaults */
  constructor(hosts: Iterable<Host>, limits: ReadonlyMap<AccountId, AccountLimits>) {
    this.#limits = limits;
    let [gpus, vcpus] = [0, 0];
    for (const { inventory } of hosts) {
      gpus += inventory?.gpus.length ?? 0;
      vcpus += inventory?.vcpus ?? 0;
    }
    this.#whole = { gpus, vcpus };
  }

  /** One more worker of the account is there. */
  take(accountId: AccountId, { gpuCount, vcpus }: WorkerResources): void {
    const taken = this.#takenBy(accountId);
    taken.workers += 1;
    taken.gpus += gpuCount;
    taken.vcpus += vcpus;
    this.#taken.set(accountId, taken);
  }

  /** The larger of what the account has of the fleet's GPUs and of its vCPU, from 0: its dominant share. */
  shareOf(accountId: AccountId): number {
    const { gpus, vcpus } = this.#takenBy(accountId);
    return Math.max(share(gpus, this.#whole.gpus), share(vcpus, this.#whole.vcpus));
  }

  /** Why the account may not have one more worker with so many GPUs; null where it may. */
  refusalOf(accountId: AccountId, gpuCount: number): Unplaced | null {
    const limits = this.#limits.get(accountId) ?? ACCOUNT_LIMITS_DEFAULT;
    const { gpus, workers } = this.#takenBy(accountId);
    const refuse = (name: 'workers' | 'gpus', has: number): Unplaced =>
      unplaced('account-quota', `${limitClause(name, limits[name])}, and has ${has}`);
    if (workers + 1 > limits.workers) return refuse('workers', workers);
    return gpuCount > 0 && gpus + gpuCount > limits.gpus ? refuse('gpus', gpus) : null;
  }

  #takenBy(accountId: AccountId): Taken {
    return this.#taken.get(accountId) ?? { workers: 0, gpus: 0, vcpus: 0 };
  }
}

/** Of what nobody has there is no share. */
const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
