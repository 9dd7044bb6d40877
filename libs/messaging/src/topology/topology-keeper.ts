import { ControlLoop } from '@berth/lifecycle';
import { watchConnection } from '../connection-watch.js';
import { ensureTopology, onceReady, type EnsureTopologyOptions } from './ensure-topology.js';
import { refuseRecords } from './refuse-records.js';

export interface TopologyKeeperOptions extends Omit<EnsureTopologyOptions, 'attemptsMax' | 'scope'> {
  /** Told when the streams could not be looked at or made; the next try follows by itself. */
  readonly onError: (error: unknown) => void;
}

/** How long a stream in memory may be missing after a restart that went unnoticed. */
const INTERVAL_MS = 5_000;

/**
 * Makes the topology at start, and again whenever the broker was away: one that runs alone comes back without its
 * streams in memory, not merely with empty ones.
 */
export class TopologyKeeper {
  readonly #options: TopologyKeeperOptions;
  readonly #loop: ControlLoop;
  #wasAway = false;

  constructor(options: TopologyKeeperOptions) {
    this.#options = options;
    this.#loop = new ControlLoop({
      name: 'topology.keep',
      intervalMs: INTERVAL_MS,
      clock: options.clock,
      run: () => this.#look(),
      onError: (_name, error) => options.onError(error),
    });
  }

  /** @throws as `refuseRecords` and `ensureTopology` do; then nothing was started */
  async start(): Promise<void> {
    const { broker, part } = this.#options;
    if (part === 'jobs') await onceReady(this.#options, () => refuseRecords(broker));
    await ensureTopology(this.#options);
    this.#loop.start();
    watchConnection(this.#options.broker.connection, {
      onBack: () => {
        this.#wasAway = true;
        this.#loop.hurry();
      },
    });
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  async #look(): Promise<void> {
    const scope = this.#wasAway ? 'all' : 'memory';
    await ensureTopology({ ...this.#options, scope, attemptsMax: 1 });
    this.#wasAway = false;
  }
}
