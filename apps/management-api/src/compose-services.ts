import { fileURLToPath } from 'node:url';
import type { Provider } from '@nestjs/common';
import type { HostId } from '@berth/domain';
import { API_KEY_DIRECTORY } from '@berth/http';
import type { Clock, Random } from '@berth/lifecycle';
import { logShard } from '@berth/messaging';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { AccountsService } from './accounts/accounts-service.js';
import { ApiKeysService } from './api-keys/api-keys-service.js';
import { CatalogService } from './catalog/catalog-service.js';
import { CLOCK } from './clock.port.js';
import { ClustersService } from './clusters/clusters-service.js';
import { composeEndpoints } from './compose-endpoints.js';
import { composeResources } from './compose-resources.js';
import type { ManagementConfig } from './config.js';
import { PUBLIC_ADDRESSES } from './endpoints/public-addresses.port.js';
import { DroppedReportEntries } from './host-sessions/dropped-report-entries.js';
import { UnopenableWorkers } from './host-sessions/unopenable-workers.js';
import { HostSessionsService, type HostSessionsOptions } from './host-sessions/host-sessions-service.js';
import { newJoinToken } from './host-sessions/join-token.js';
import { hashHostSecret } from './host-sessions/secret-hash.js';
import { HostsService } from './hosts/hosts-service.js';
import { JobHistoryService } from './job-history/job-history-service.js';
import { NetworkVolumesService } from './network-volumes/network-volumes-service.js';
import { AccountsStore } from './accounts/accounts.store.js';
import { ApiKeysStore } from './api-keys/api-keys.store.js';
import { AuditStore } from './audit/audit.store.js';
import { ClustersStore } from './clusters/clusters.store.js';
import { HostLoadsStore } from './catalog/host-loads.store.js';
import { HostSessionsStore } from './host-sessions/host-sessions.store.js';
import { HostsStore } from './hosts/hosts.store.js';
import { JobHistoryStore } from './job-history/job-history.store.js';
import { PodsStore } from './pods/pods.store.js';
import type { Database } from './persistence/database.js';
import { ChangeSeal } from './persistence/change-seal.js';
import { EnvSeal } from './persistence/env-seal.js';
import { PodsService } from './pods/pods-service.js';
import { provided } from './provided.js';
import { ProblemPagesService } from './problems/problem-pages-service.js';
import { RegistriesService } from './registries/registries-service.js';
import type { ControlSnapshots } from './snapshots/control-snapshots.js';
import { TemplatesService } from './templates/templates-service.js';

export interface ServiceParts {
  readonly config: ManagementConfig;
  readonly database: Database;
  readonly snapshots: ControlSnapshots;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Called when a host has been removed for good. */
  readonly onHostRemoved: () => void;
  readonly metrics: MetricRegistry;
}

/** Beside the programs, in the sources as in the build. */
const PROBLEM_PAGES = fileURLToPath(new URL('../../../docs/problems/', import.meta.url));

/** The services with their adapters: the only place that joins the two. */
export function composeServices(parts: ServiceParts): Provider[] {
  const { clock, config, database, logger, onHostRemoved, random, snapshots } = parts;
  const makeJoinToken = makeJoinTokens(random);
  const changes = new ChangeSeal(config.secrets);
  const audit = new AuditStore(database, clock, changes);
  const shared = { clock, random, snapshots, audit, transactions: database };
  const envs = new EnvSeal(config.secrets);
  const resources = composeResources({ database, envs, logger, secrets: config.secrets, shared });
  const apiKeys = new ApiKeysStore(database);
  const clusters = new ClustersService(new ClustersStore(database));
  return [
    { provide: API_KEY_DIRECTORY, useValue: apiKeys },
    provided(AuditStore, audit),
    { provide: CLOCK, useValue: clock },
    { provide: PUBLIC_ADDRESSES, useValue: config.addresses },
    provided(AccountsService, new AccountsService({ ...shared, records: new AccountsStore(database) })),
    provided(ApiKeysService, new ApiKeysService({ ...shared, records: apiKeys })),
    ...composeEndpoints({
      database,
      secrets: config.secrets,
      seals: { changes, envs },
      templates: resources.templates,
      shared,
    }),
    provided(
      HostsService,
      new HostsService({ ...shared, records: new HostsStore(database), makeJoinToken, onRemoved: onHostRemoved }),
    ),
    provided(NetworkVolumesService, resources.networkVolumes),
    provided(RegistriesService, resources.registries),
    provided(TemplatesService, resources.templates),
    provided(CatalogService, new CatalogService({ clock, loads: new HostLoadsStore(database) })),
    provided(ClustersService, clusters),
    provided(JobHistoryService, new JobHistoryService(new JobHistoryStore(database, logShard))),
    provided(PodsService, new PodsService({ clusters, records: new PodsStore(database) })),
    provided(ProblemPagesService, new ProblemPagesService(PROBLEM_PAGES)),
    provided(HostSessionsService, newHostSessions(parts, envs, resources.credentials)),
  ];
}

const makeJoinTokens =
  (random: Random) =>
  (hostId: HostId): { token: string; hash: string } => {
    const token = newJoinToken(hostId, random);
    return { token, hash: hashHostSecret(token) };
  };

function newHostSessions(
  { clock, database, logger, metrics, snapshots }: ServiceParts,
  envs: EnvSeal,
  credentials: HostSessionsOptions['credentials'],
): HostSessionsService {
  const dropped = new DroppedReportEntries(metrics, logger);
  const unopenable = new UnopenableWorkers(metrics, logger);
  return new HostSessionsService({
    store: new HostSessionsStore(database),
    credentials,
    envs,
    clock,
    onChange: () => {
      snapshots.announce('all');
    },
    onDropped: (hostId, entries) => {
      dropped.note(hostId, entries);
    },
    onUnopenable: (hostId, workers) => {
      unopenable.note(hostId, workers);
    },
  });
}
