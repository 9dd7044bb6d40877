import type { Clock, Random } from '@berth/lifecycle';
import type { SecretBox } from '@berth/secrets';
import type { Logger } from '@berth/telemetry';
import type { AuditStore } from './audit/audit.store.js';
import { NetworkVolumesService } from './network-volumes/network-volumes-service.js';
import type { Database } from './persistence/database.js';
import type { EnvSeal } from './persistence/env-seal.js';
import { NetworkVolumesStore } from './network-volumes/network-volumes.store.js';
import { RegistriesStore } from './registries/registries.store.js';
import { TemplatesStore } from './templates/templates.store.js';
import { RegistriesService } from './registries/registries-service.js';
import { RegistryCredentialsService } from './registries/registry-credentials-service.js';
import { TemplatesService } from './templates/templates-service.js';
import type { Transactions } from './persistence/transactions.port.js';

interface ResourceParts {
  readonly database: Database;
  readonly envs: EnvSeal;
  readonly secrets: SecretBox;
  readonly logger: Logger;
  readonly shared: {
    readonly audit: AuditStore;
    readonly transactions: Transactions;
    readonly clock: Clock;
    readonly random: Random;
  };
}

/** What endpoints and pods are made with. */
export interface Resources {
  readonly credentials: RegistryCredentialsService;
  readonly networkVolumes: NetworkVolumesService;
  readonly registries: RegistriesService;
  readonly templates: TemplatesService;
}

export function composeResources({ database, envs, logger, secrets, shared }: ResourceParts): Resources {
  const credentials = new RegistryCredentialsService(secrets, logger);
  return {
    credentials,
    networkVolumes: new NetworkVolumesService({ ...shared, records: new NetworkVolumesStore(database) }),
    registries: new RegistriesService({ ...shared, records: new RegistriesStore(database), credentials }),
    templates: new TemplatesService({ ...shared, records: new TemplatesStore(database, envs) }),
  };
}
