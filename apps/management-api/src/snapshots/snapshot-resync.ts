import { PlatformError } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';

const INTERVAL_MS = 30_000;

/** One bucket's part of the work. */
export interface Resync {
  run(signal: AbortSignal): Promise<unknown>;
}

/** Level-triggered: whatever was lost on the way to the buckets is there at the latest one interval later. */
export class SnapshotResync {
  readonly #loop: ControlLoop;
  #hasRun = false;

  constructor(resyncs: readonly Resync[], { clock, logger }: { readonly clock: Clock; readonly logger: Logger }) {
    this.#loop = new ControlLoop({
      name: 'snapshot.resync',
      intervalMs: INTERVAL_MS,
      clock,
      onError: (name, error) => {
        logger.warn(`control loop ${name} failed; it runs again`, { error });
      },
      run: async (signal) => {
        await runAll(resyncs, signal);
        this.#hasRun = true;
      },
    });
  }

  /** Asks for a pass now, for when the broker is back. */
  hurry(): void {
    this.#loop.hurry();
  }

  start(): void {
    this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** Rejects until the buckets have been compared once: before that the routers may not know what the database does. */
  async check(): Promise<void> {
    if (!this.#hasRun) throw new Error('the snapshots have not been compared with the database yet');
  }
}

/**
 * One bucket whose pass failed keeps no other from its own; while the broker does not answer the rest would only wait.
 *
 * @throws the first failure, once everything else is done
 */
async function runAll(resyncs: readonly Resync[], signal: AbortSignal): Promise<void> {
  const failures: unknown[] = [];
  for (const resync of resyncs) {
    try {
      await resync.run(signal);
    } catch (error) {
      if (error instanceof PlatformError && error.code === 'service-unavailable') throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}
