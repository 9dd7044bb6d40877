import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { IdempotencyKeysStore } from './idempotency-keys.store.js';

const INTERVAL_MS = 60_000;
const BATCH = 1_000;

/** The loop that forgets idempotency keys whose time is over, in batches that lock little. Any number of processes may run it. */
export const makeKeyPruning = (
  keys: IdempotencyKeysStore,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): ControlLoop =>
  new ControlLoop({
    name: 'idempotency-key.pruning',
    intervalMs: INTERVAL_MS,
    clock,
    onError: (name, error) => {
      logger.warn(`control loop ${name} failed; it runs again`, { error });
    },
    run: async (signal) => {
      let pruned = BATCH;
      while (pruned === BATCH && !signal.aborted) pruned = await keys.prune(BATCH);
    },
  });
