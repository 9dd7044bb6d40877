import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { EnvBackfillStore } from './env-backfill.store.js';

/** Beside processes that do not seal yet, as in a rolling start, new rows may come in the clear for a while. */
const INTERVAL_MS = 10 * 60_000;
const BATCH = 200;

/** The loop that seals what rests in the clear: once at the start, then only what a look now and then finds. */
export const makeEnvSealing = (
  backfill: EnvBackfillStore,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): ControlLoop =>
  new ControlLoop({
    name: 'env.sealing',
    intervalMs: INTERVAL_MS,
    clock,
    onError: (name, error) => {
      logger.warn(`control loop ${name} failed; it runs again`, { error });
    },
    run: async (signal) => {
      let total = 0;
      let found = BATCH;
      while (found > 0 && !signal.aborted) {
        found = await backfill.sealSome(BATCH);
        total += found;
      }
      if (total > 0) logger.info('environment variables were sealed that rested in the clear', { rows: total });
    },
  });
