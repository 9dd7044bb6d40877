import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { catalogMetrics } from './metrics.js';
import type { RunningCatalog, RunningCatalogsStore } from './running-catalogs.store.js';

export interface CatalogWatchOptions {
  readonly own: RunningCatalog;
  readonly store: Pick<RunningCatalogsStore, keyof RunningCatalogsStore>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

const INTERVAL_MS = 30_000;
/** A process that has not spoken for three turns runs no more. */
const FRESH_MS = 3 * INTERVAL_MS;

/**
 * Says again and again with which catalog this process runs, and warns while another process of the control plane runs with
 * another one: an endpoint that the API takes may then have no place for the controllers, or another price.
 */
export class CatalogWatch {
  readonly #options: CatalogWatchOptions;
  readonly #loop: ControlLoop;
  readonly #differences: ReturnType<typeof catalogMetrics>['differences'];
  /** Processes that this one has warned of. */
  #told: ReadonlySet<string> = new Set();

  constructor(options: CatalogWatchOptions) {
    this.#options = options;
    const { clock, logger, metrics } = options;
    this.#differences = catalogMetrics(metrics).differences;
    this.#loop = new ControlLoop({
      name: 'catalog.watch',
      intervalMs: INTERVAL_MS,
      clock,
      run: () => this.#exchange(),
      onError: (name, error) => {
        logger.warn(`control loop ${name} failed; it runs again`, { error });
      },
    });
  }

  start(): void {
    this.#loop.start();
  }

  /** A process that was started again with another file is not compared with what it was. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    const { logger, own, store } = this.#options;
    await store.forget(own.process).catch((error: unknown) => {
      logger.info('the catalog of this process could not be taken back; it is forgotten soon', { error });
    });
  }

  async #exchange(): Promise<void> {
    const { logger, own, store } = this.#options;
    const others = await store.exchange(own, FRESH_MS);
    this.#differences.set(others.length);
    for (const other of others) {
      if (!this.#told.has(other.process)) logger.warn(...warningOf(own, other));
    }
    if (this.#told.size > 0 && others.length === 0) logger.info('all run with the same hardware catalog again');
    this.#told = new Set(others.map(({ process }) => process));
  }
}

const warningOf = (own: RunningCatalog, other: RunningCatalog): [string, Record<string, string>] => [
  `hardware catalogs differ: ${nameOf(own)} is not that of ${nameOf(other)}; start both with the same BERTH_CATALOG_FILE`,
  { digest: own.digest, otherDigest: other.digest, otherProcess: other.process },
];

const nameOf = ({ app, file }: RunningCatalog): string => `${file ?? 'the shipped one'} of ${app}`;
