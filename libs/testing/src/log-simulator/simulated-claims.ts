import { IDLE, type LogWorld, type SimulatedProcess } from './log-world.js';

/** One that may own the shard. */
export interface Claimant {
  readonly process: SimulatedProcess;
  /** From now on it owns. */
  own: (term: number) => void;
}

const TRUST_MS = 3_000;
const FREE_MS = 4_000;
const RENEWAL_MS = 1_000;
/** How late a deposed owner may hear of it where beliefs may be wrong. */
const BELIEF_MAX_MS = 15_000;

/**
 * Who owns the shard: what the rooms of ownership promise, and no more. Strict: an owner trusts for 3 s from its last
 * renewal, and nobody else claims within 4 s, so no two trust at the same instant. Loose: a deposed owner believes for
 * a while that it still owns.
 */
export class SimulatedClaims {
  readonly #world: LogWorld;
  readonly #claimants: Claimant[] = [];
  readonly #isStrict: boolean;
  readonly #isBucketAway: () => boolean;
  readonly #beliefs = new Map<Claimant, { readonly term: number; readonly untilMs: number }>();
  #holder: Claimant | null = null;
  #term = 0;
  #renewedAtMs = 0;

  constructor(world: LogWorld, more: { readonly isStrict: boolean; readonly isBucketAway: () => boolean }) {
    this.#world = world;
    this.#isStrict = more.isStrict;
    this.#isBucketAway = more.isBucketAway;
  }

  get holder(): Claimant | null {
    return this.#holder;
  }

  add(claimant: Claimant): void {
    this.#claimants.push(claimant);
  }

  begin(): void {
    this.#tick();
  }

  trusts(claimant: Claimant, term: number): boolean {
    const { nowMs } = this.#world;
    if (this.#holder === claimant && this.#term === term) {
      return !this.#isStrict || nowMs < this.#renewedAtMs + TRUST_MS;
    }
    const belief = this.#beliefs.get(claimant);
    return !this.#isStrict && belief?.term === term && nowMs < belief.untilMs;
  }

  /** The owner hands over: it has let go of everything. */
  free(claimant: Claimant): void {
    if (this.#holder === claimant) this.#move(claimant);
  }

  #tick(): typeof IDLE {
    this.#world.post(this.#world.outside, RENEWAL_MS, () => this.#tick());
    if (!this.#isBucketAway()) this.#renew();
    return IDLE;
  }

  #renew(): void {
    const { nowMs } = this.#world;
    const holder = this.#holder?.process;
    const isWell = holder?.isAlive === true && holder.frozenUntilMs <= nowMs;
    if (isWell) this.#renewedAtMs = nowMs;
    else if (nowMs - this.#renewedAtMs >= FREE_MS || holder?.isAlive === false) this.#move(this.#holder);
  }

  #move(from: Claimant | null): void {
    const { nowMs, random } = this.#world;
    const others = this.#claimants.filter(
      (each) => each !== from && each.process.isAlive && each.process.frozenUntilMs <= nowMs,
    );
    if (others.length === 0) return;
    if (from !== null) this.#beliefs.set(from, { term: this.#term, untilMs: nowMs + random.integer(0, BELIEF_MAX_MS) });
    this.#term += 1;
    this.#holder = random.pick(others);
    this.#renewedAtMs = nowMs;
    this.#holder.own(this.#term);
  }
}
