import type { ApiKeySnapshot } from '@berth/contracts';
import type { Clock } from '@berth/lifecycle';
import type { MetricRegistry } from '@berth/telemetry';
import type { Strangers } from '../callers/strangers.js';
import { lookupMetrics } from '../metrics.js';
import type { ApiKeyDirectory } from './api-key-directory.port.js';
import { hashApiKey, matchesHash } from './api-key.js';

/** How long "there is none" is believed, of how many keys. */
const MISS_MS = 1_000;
const MISSES_MAX = 10_000;

/** Good keys that are remembered as hashes: 10,000 are some 2 MB. */
const PROVEN_MAX = 10_000;

/** A key as a caller has shown it. */
export interface ShownKey {
  readonly key: string;
  /** Its public part. */
  readonly prefix: string;
  /** Of the caller. */
  readonly network: string;
}

export interface KeyLookupsOptions {
  /** Other than the default only in a test. */
  readonly provenMax?: number;
  readonly directory: ApiKeyDirectory;
  readonly strangers: Strangers;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
}

/**
 * Finds the keys that callers show. A known key costs nothing; an unknown one is looked up as often as strangers may.
 */
export class KeyLookups {
  readonly #directory: ApiKeyDirectory;
  readonly #strangers: Strangers;
  readonly #clock: Clock;
  readonly #metrics: ReturnType<typeof lookupMetrics>;
  readonly #provenMax: number;
  /** Prefix → monotonic instant until which there is no such key, oldest first. */
  readonly #misses = new Map<string, number>();
  /** Hashes of whole keys that were good when they were shown last, longest unused first. */
  readonly #proven = new Set<string>();

  constructor({ clock, directory, metrics, provenMax = PROVEN_MAX, strangers }: KeyLookupsOptions) {
    this.#directory = directory;
    this.#strangers = strangers;
    this.#clock = clock;
    this.#provenMax = provenMax;
    this.#metrics = lookupMetrics(metrics);
  }

  /**
   * The key that was shown, also one whose time is over; null where there is none such.
   *
   * @throws PlatformError `service-unavailable` when nobody can tell, `rate-limited`
   */
  async find(shown: ShownKey): Promise<ApiKeySnapshot | null> {
    const known = this.#directory.known?.(shown.prefix);
    if (known !== undefined) return this.#check(shown, known);
    const hash = hashApiKey(shown.key);
    return this.#proven.has(hash) ? this.#findProven(shown, hash) : this.#findUnknown(shown, hash);
  }

  #check({ key, network }: ShownKey, known: ApiKeySnapshot): ApiKeySnapshot | null {
    const isRight = matchesHash(key, known.hash);
    if (!isRight || this.#isExpired(known)) this.#strangers.admitAsk(network);
    return isRight ? known : null;
  }

  #isExpired({ expiresAtMs }: ApiKeySnapshot): boolean {
    return expiresAtMs !== null && expiresAtMs <= this.#clock.nowMs();
  }

  /** A caller that has shown a good key is no stranger, so a flood from the same network takes nothing from it. */
  async #findProven(shown: ShownKey, hash: string): Promise<ApiKeySnapshot | null> {
    const found = await this.#lookUp(shown.prefix);
    const isRight = found !== null && found.hash === hash;
    this.#proven.delete(hash);
    if (isRight && !this.#isExpired(found)) this.#proven.add(hash);
    return isRight ? found : null;
  }

  async #findUnknown(shown: ShownKey, hash: string): Promise<ApiKeySnapshot | null> {
    const { network, prefix } = shown;
    this.#strangers.admitAsk(network);
    if (this.#isMissing(prefix)) return null;
    this.#strangers.admitLookup(network);
    const found = await this.#lookUpCharged(shown);
    if (found === null) this.#noteMiss(prefix);
    if (found === null || !matchesHash(shown.key, found.hash)) return null;
    if (!this.#isExpired(found)) this.#acceptAs(hash, network);
    return found;
  }

  /**
   * A stranger is not charged for a key of which the store could not tell. Until then it is, so only so many wait for a
   * store that is away.
   */
  async #lookUpCharged({ network, prefix }: ShownKey): Promise<ApiKeySnapshot | null> {
    try {
      return await this.#lookUp(prefix);
    } catch (error) {
      this.#strangers.forgive(network);
      throw error;
    }
  }

  #lookUp(prefix: string): Promise<ApiKeySnapshot | null> {
    this.#metrics.lookups.inc();
    return this.#directory.find(prefix);
  }

  #isMissing(prefix: string): boolean {
    const untilMs = this.#misses.get(prefix);
    if (untilMs === undefined) return false;
    if (this.#clock.monotonicMs() < untilMs) return true;
    this.#misses.delete(prefix);
    return false;
  }

  #noteMiss(prefix: string): void {
    this.#misses.delete(prefix);
    this.#misses.set(prefix, this.#clock.monotonicMs() + MISS_MS);
    forgetOldest(this.#misses, MISSES_MAX);
  }

  #acceptAs(hash: string, network: string): void {
    this.#strangers.forgive(network);
    this.#proven.add(hash);
    forgetOldest(this.#proven, this.#provenMax);
  }
}

function forgetOldest(
  kept: { readonly size: number; keys(): IterableIterator<string>; delete(key: string): boolean },
  max: number,
): void {
  if (kept.size <= max) return;
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    return;
  }
}
