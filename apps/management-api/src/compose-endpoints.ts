import type { Provider } from '@nestjs/common';
import type { Clock, Random } from '@berth/lifecycle';
import type { SecretBox } from '@berth/secrets';
import type { AuditStore } from './audit/audit.store.js';
import { composeWebhookSecrets } from './webhook-secrets/compose-webhook-secrets.js';
import { EndpointReferences } from './references/endpoint-references.js';
import { EndpointsService } from './endpoints/endpoints-service.js';
import type { Database } from './persistence/database.js';
import { EndpointsStore, type EndpointSeals } from './endpoints/endpoints.store.js';
import { ReferencesStore } from './references/references.store.js';
import { ReleasesStore } from './releases/releases.store.js';
import { WorkersStore } from './workers/workers.store.js';
import { provided } from './provided.js';
import { ReleasesService } from './releases/releases-service.js';
import type { ControlSnapshots } from './snapshots/control-snapshots.js';
import type { TemplatesService } from './templates/templates-service.js';
import type { Transactions } from './persistence/transactions.port.js';
import { V1EndpointsService } from './v1-endpoints/v1-endpoints-service.js';
import { WebhookSecretsService } from './webhook-secrets/webhook-secrets-service.js';
import { WorkersService } from './workers/workers-service.js';

interface EndpointParts {
  readonly database: Database;
  readonly secrets: SecretBox;
  readonly seals: EndpointSeals;
  readonly templates: TemplatesService;
  readonly shared: {
    readonly audit: AuditStore;
    readonly snapshots: ControlSnapshots;
    readonly transactions: Transactions;
    readonly clock: Clock;
    readonly random: Random;
  };
}

/** Endpoints and what belongs to each of them. */
export function composeEndpoints({ database, seals, secrets, shared, templates }: EndpointParts): Provider[] {
  const workers = new WorkersStore(database);
  const { keeper } = composeWebhookSecrets({ ...shared, database, secrets });
  const endpoints = new EndpointsService({
    ...shared,
    references: new EndpointReferences({ templates, records: new ReferencesStore(database) }),
    webhookSecrets: keeper,
    records: new EndpointsStore(database, seals),
  });
  return [
    provided(EndpointsService, endpoints),
    provided(WebhookSecretsService, new WebhookSecretsService({ ...shared, endpoints, keeper })),
    provided(WorkersService, new WorkersService({ clock: shared.clock, endpoints, records: workers })),
    provided(V1EndpointsService, new V1EndpointsService(endpoints)),
    provided(
      ReleasesService,
      new ReleasesService({ endpoints, workers, records: new ReleasesStore(database, seals.changes) }),
    ),
  ];
}
