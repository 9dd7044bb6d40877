import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { AccountsController } from './accounts/accounts.controller.js';
import { ApiKeysController } from './api-keys/api-keys.controller.js';
import { AuditController } from './audit/audit.controller.js';
import { CpuTypesController } from './catalog/cpu-types.controller.js';
import { DataCenterAliasesController, DataCentersController } from './catalog/data-centers.controller.js';
import { GpuTypesController } from './catalog/gpu-types.controller.js';
import { ClustersController } from './clusters/clusters.controller.js';
import { EndpointsController } from './endpoints/endpoints.controller.js';
import { HostSessionsController } from './host-sessions/host-sessions.controller.js';
import { HostsController } from './hosts/hosts.controller.js';
import { JobHistoryController } from './job-history/job-history.controller.js';
import { NetworkVolumesController } from './network-volumes/network-volumes.controller.js';
import { ClusterPodsController } from './pods/cluster-pods.controller.js';
import { PodsController } from './pods/pods.controller.js';
import { ProblemsController } from './problems/problems.controller.js';
import { RegistriesController } from './registries/registries.controller.js';
import { CatalogTemplatesController } from './templates/catalog-templates.controller.js';
import { TemplatesController } from './templates/templates.controller.js';
import { ReleasesController } from './releases/releases.controller.js';
import { V1EndpointsController } from './v1-endpoints/v1-endpoints.controller.js';
import { WebhookSecretsController } from './webhook-secrets/webhook-secrets.controller.js';
import { WorkersController } from './workers/workers.controller.js';

/** Everything that answers requests, over HTTP and over NATS. */
@Module({
  controllers: [
    AccountsController,
    ApiKeysController,
    AuditController,
    CatalogTemplatesController,
    ClusterPodsController,
    ClustersController,
    CpuTypesController,
    DataCenterAliasesController,
    DataCentersController,
    EndpointsController,
    GpuTypesController,
    HostSessionsController,
    HostsController,
    JobHistoryController,
    NetworkVolumesController,
    PodsController,
    ProblemsController,
    RegistriesController,
    TemplatesController,
    ReleasesController,
    V1EndpointsController,
    WebhookSecretsController,
    WorkersController,
  ],
})
export class AppModule {
  /** @param providers the services behind the controllers */
  static of(providers: Provider[]): DynamicModule {
    return { module: AppModule, providers };
  }
}
