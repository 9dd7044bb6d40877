import type { Clock, ControlLoop } from '@berth/lifecycle';
import type { SecretBox } from '@berth/secrets';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { type Database, EnvSeal } from '../persistence/index.js';
import { RegistryCredentialsService } from '../registries/index.js';
import type { WebhookSecretKeeper } from '../webhook-secrets/index.js';
import { EnvBackfillStore } from './env-backfill.store.js';
import { Resealing } from './resealing.js';
import { sealedPlaces } from './sealed-places.js';
import { makeSealingLoop } from './sealing-loop.js';

export interface SealingParts {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly webhookSecrets: WebhookSecretKeeper;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** The loop that keeps all that rests sealed, with the first key. */
export function composeSealing(parts: SealingParts): ControlLoop {
  const { database, logger, secrets } = parts;
  const credentials = new RegistryCredentialsService(secrets, logger);
  const resealing = new Resealing({ ...parts, places: sealedPlaces({ ...parts, credentials }) });
  return makeSealingLoop({ ...parts, backfill: new EnvBackfillStore(database, new EnvSeal(secrets)), resealing });
}
