import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { AccountsController } from '../accounts/index.js';
import { ApiKeysController } from '../api-keys/index.js';
import { AuditController } from '../audit/index.js';
import {
  CpuTypesController,
  DataCenterAliasesController,
  DataCentersController,
  GpuTypesController,
} from '../catalog/index.js';
import { ClustersController } from '../clusters/index.js';
import { EndpointsController } from '../endpoints/index.js';
import { HostSessionsController } from '../host-sessions/index.js';
import { HostsController } from '../hosts/index.js';
import { JobHistoryController } from '../job-history/index.js';
import { NetworkVolumesController } from '../network-volumes/index.js';
import { ClusterPodsController, PodsController } from '../pods/index.js';
import { ProblemsController } from '../problems/index.js';
import { RegistriesController } from '../registries/index.js';
import { CatalogTemplatesController, TemplatesController } from '../templates/index.js';
import { ReleasesController } from '../releases/index.js';
import { UsageController } from '../usage/index.js';
import { V1EndpointsController } from '../v1-endpoints/index.js';
import { WebhookSecretsController } from '../webhook-secrets/index.js';
import { ScalingHistoryController } from '../scaling-history/index.js';
import { WorkerLogsController } from '../worker-logs/index.js';
import { WorkersController } from '../workers/index.js';

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
    ScalingHistoryController,
    TemplatesController,
    ReleasesController,
    UsageController,
    V1EndpointsController,
    WebhookSecretsController,
    WorkerLogsController,
    WorkersController,
  ],
})
export class ManagementModule {
  /** @param providers the services behind the controllers */
  static of(providers: Provider[]): DynamicModule {
    return { module: ManagementModule, providers };
  }
}
