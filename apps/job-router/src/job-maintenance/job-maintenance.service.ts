import { ControlLoop, type Clock } from '@berth/lifecycle';
import { EXPIRER, type Expirer } from './expirer.js';
import type { MaintenanceObserver } from './mend.js';
import { PRUNER, type Pruner } from './pruner.js';
import { REAPER, type Reaper } from './reaper.js';
import { TICKETER, type Ticketer } from './ticketer.js';

const TICKETER_MS = 2_000;
const REAPER_MS = 1_000;
const EXPIRER_MS = 500;
const PRUNER_MS = 5_000;

export interface JobMaintenanceOptions {
  readonly ticketer: Ticketer;
  readonly reaper: Reaper;
  readonly expirer: Expirer;
  readonly pruner: Pruner;
  readonly clock: Clock;
  /** While the view may miss something it must not be taken for the truth's shape, so nothing is looked for. */
  readonly isViewWhole: () => boolean;
  readonly observer: MaintenanceObserver;
}

/**
 * Four loops that mend what crashes and lost hints leave behind. They need no leader: every write is a compare-and-set
 * or a removal that is safe to repeat, so any number of routers may run them.
 */
export class JobMaintenance {
  readonly #loops: readonly ControlLoop[];
  readonly #reaper: ControlLoop;
  readonly #pruner: ControlLoop;

  constructor(options: JobMaintenanceOptions) {
    const loop = (name: string, intervalMs: number, work: { run(signal: AbortSignal): Promise<void> }): ControlLoop =>
      new ControlLoop({
        name,
        intervalMs,
        clock: options.clock,
        run: async (signal) => {
          if (options.isViewWhole()) await work.run(signal);
        },
        onError: (failed, error) => {
          options.observer.failed(failed, error);
        },
      });
    this.#reaper = loop(REAPER, REAPER_MS, options.reaper);
    this.#pruner = loop(PRUNER, PRUNER_MS, options.pruner);
    const ticketer = loop(TICKETER, TICKETER_MS, options.ticketer);
    const expirer = loop(EXPIRER, EXPIRER_MS, options.expirer);
    this.#loops = [ticketer, this.#reaper, expirer, this.#pruner];
  }

  start(): void {
    for (const loop of this.#loops) loop.start();
  }

  /** A lease has run out: look now. */
  hurryReaper(): void {
    this.#reaper.hurry();
  }

  /** An endpoint was deleted: look now. */
  hurryPruner(): void {
    this.#pruner.hurry();
  }

  async stop(): Promise<void> {
    await Promise.all(this.#loops.map((loop) => loop.stop()));
  }
}
