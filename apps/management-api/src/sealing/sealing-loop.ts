import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { EnvBackfillStore } from './env-backfill.store.js';
import type { Resealing } from './resealing.js';

/**
 * Beside processes that do not seal yet, or with another key, as in a rolling start, new rows may come in the clear or
 * sealed with that key for a while.
 */
const INTERVAL_MS = 10 * 60_000;
const BATCH = 200;

export interface SealingLoopParts {
  readonly backfill: EnvBackfillStore;
  readonly resealing: Pick<Resealing, 'run'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * The loop that seals what rests in the clear, and anew what another key than the first has sealed: once at the start,
 * then only what a look now and then finds.
 */
export const makeSealingLoop = ({ backfill, clock, logger, resealing }: SealingLoopParts): ControlLoop =>
  new ControlLoop({
    name: 'sealing',
    intervalMs: INTERVAL_MS,
    clock,
    onError: (name, error) => {
      logger.warn(`control loop ${name} failed; it runs again`, { error });
    },
    run: async (signal) => {
      await sealPlain(backfill, logger, signal);
      await resealing.run(signal);
    },
  });

async function sealPlain(backfill: EnvBackfillStore, logger: Logger, signal: AbortSignal): Promise<void> {
  let total = 0;
  let found = BATCH;
  while (found > 0 && !signal.aborted) {
    found = await backfill.sealSome(BATCH);
    total += found;
  }
  if (total > 0) logger.info('environment variables were sealed that rested in the clear', { rows: total });
}
