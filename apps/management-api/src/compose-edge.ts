import type { IdempotencyLedger, RateLimiter } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { ManagementConfig } from './config.js';
import { makeKeyPruning } from './idempotency/key-pruning.js';
import { RequestLedger } from './idempotency/request-ledger.js';
import type { Database } from './persistence/database.js';
import { IdempotencyKeysStore } from './idempotency/idempotency-keys.store.js';
import { RateWindowsStore } from './rate-limits/rate-windows.store.js';
import { AccountRateLimiter } from './rate-limits/account-rate-limiter.js';

export interface EdgeParts {
  readonly config: ManagementConfig;
  readonly database: Database;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

export interface Edge {
  readonly rateLimiter: RateLimiter;
  readonly idempotency: IdempotencyLedger;
  stop(): Promise<void>;
}

/** What the API remembers of its requests, over all processes; the loop that forgets it is started. */
export function composeEdge({ clock, config, database, logger, metrics }: EdgeParts): Edge {
  const windows = new RateWindowsStore(database);
  const keys = new IdempotencyKeysStore(database);
  const pruning = makeKeyPruning(keys, { clock, logger });
  pruning.start();
  return {
    rateLimiter: new AccountRateLimiter({ windows, quotas: config.rateQuotas, clock, logger, metrics }),
    idempotency: new RequestLedger({ keys, transactions: database, secrets: config.secrets }),
    stop: () => pruning.stop(),
  };
}
