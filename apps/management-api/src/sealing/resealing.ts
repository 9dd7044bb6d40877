import { SecretError, type SecretBox } from '@berth/secrets';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { sealingMetrics } from './metrics.js';
import type { SealedPlace, SealedRow } from './sealed-place.js';

export interface ResealingOptions {
  readonly places: readonly SealedPlace[];
  readonly secrets: Pick<SecretBox, 'hasOtherKeys'>;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** What a look at one place has found. */
interface Found {
  readonly resealed: number;
  /** Sealed with other keys still: nobody can open it, it was changed meanwhile, or it ends by itself. */
  readonly left: number;
  /** Key of one that cannot be opened; null: there is none. */
  readonly unopened: SealedRow['key'] | null;
}

/** Rows of one statement: each may hold variables of some 100 KiB. */
const PAGE = 100;

/**
 * Seals with the first key whatever another has sealed, so that the other one may go. A pass looks at each row once:
 * beside a process whose first key is another one still, as in a rolling restart, both end, and the last look is of the
 * process that was started last.
 */
export class Resealing {
  readonly #options: ResealingOptions;
  readonly #metrics: ReturnType<typeof sealingMetrics>;
  /** With one key there is nothing to do; one look tells whether somebody has taken another away too early. */
  #hasLooked = false;

  constructor(options: ResealingOptions) {
    this.#options = options;
    this.#metrics = sealingMetrics(options.metrics);
  }

  /** One pass over every place; one that fails stops no other. */
  async run(signal: AbortSignal): Promise<void> {
    const { places, secrets } = this.#options;
    if (this.#hasLooked && !secrets.hasOtherKeys) return;
    let isWhole = true;
    for (const place of places) isWhole = (await this.#runIn(place, signal)) && isWhole;
    this.#hasLooked = isWhole;
  }

  async #runIn(place: SealedPlace, signal: AbortSignal): Promise<boolean> {
    const { logger } = this.#options;
    const { kind } = place;
    try {
      const found = await this.#pass(place, signal);
      if (found === null) return false;
      this.#metrics.left.set({ kind }, found.left);
      this.#tell(kind, found);
      return true;
    } catch (error) {
      logger.warn('secrets could not be sealed anew; that is tried again', { kind, error });
      return false;
    }
  }

  #tell(kind: string, { left, resealed, unopened }: Found): void {
    const { logger } = this.#options;
    if (resealed > 0) logger.info('secrets were sealed anew with the first key', { kind, resealed, left });
    if (unopened !== null) logger.warn('a secret cannot be opened by any key', { kind, left, row: unopened.join(' ') });
  }

  /** Null: it was cut off. */
  async #pass(place: SealedPlace, signal: AbortSignal): Promise<Found | null> {
    let found: Found = { resealed: 0, left: 0, unopened: null };
    let rows = await place.page(null, PAGE);
    for (let last = rows.at(-1); last !== undefined; last = rows.at(-1)) {
      for (const row of rows.filter(({ stale }) => stale !== null)) {
        if (signal.aborted) return null;
        found = await this.#renew(place, row, found);
      }
      rows = await place.page(last.key, PAGE);
      if (signal.aborted) return null;
    }
    return found;
  }

  async #renew(place: SealedPlace, row: SealedRow, { left, resealed, unopened }: Found): Promise<Found> {
    const { kind } = place;
    try {
      if (!(await place.renew(row))) return { resealed, left: left + 1, unopened };
      this.#metrics.resealed.inc({ kind });
      return { resealed: resealed + 1, left, unopened };
    } catch (error) {
      if (!(error instanceof SecretError)) throw error;
      this.#metrics.unopened.inc({ kind });
      return { resealed, left: left + 1, unopened: row.key };
    }
  }
}
