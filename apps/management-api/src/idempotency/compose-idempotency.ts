import type { IdempotencyLedger } from '@berth/http';
import type { Clock } from '@berth/lifecycle';
import type { SecretBox } from '@berth/secrets';
import type { Logger } from '@berth/telemetry';
import type { Database } from '../persistence/index.js';
import { IdempotencyKeysStore } from './idempotency-keys.store.js';
import { makeKeyPruning } from './key-pruning.js';
import { RequestLedger } from './request-ledger.js';

export interface IdempotencyParts {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The API's memory of its requests, over all processes; the loop that forgets old ones is started. */
export function composeIdempotency({ database, secrets, ...tools }: IdempotencyParts): {
  readonly ledger: IdempotencyLedger;
  stop(): Promise<void>;
} {
  const keys = new IdempotencyKeysStore(database);
  const pruning = makeKeyPruning(keys, tools);
  pruning.start();
  return { ledger: new RequestLedger({ keys, transactions: database, secrets }), stop: () => pruning.stop() };
}
