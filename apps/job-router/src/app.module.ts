import { Module, type Type } from '@nestjs/common';
import { AgentGatewayModule } from './agent-gateway/agent-gateway.module.js';
import { Doorbell } from './agent-gateway/dispatcher/doorbell.port.js';
import { EndpointDirectoryModule } from './endpoint-directory/endpoint-directory.module.js';
import { ControlPlaneSnapshots } from './endpoint-directory/snapshots.port.js';
import { JobMaintenanceModule } from './job-maintenance/job-maintenance.module.js';
import { MaintenanceInputs } from './job-maintenance/maintenance.port.js';
import { JobRateLimitsModule } from './job-rate-limits/job-rate-limits.module.js';
import { RatePeers } from './job-rate-limits/rate-peers.port.js';
import { JobStreamModule } from './job-stream/job-stream.module.js';
import { SharedCursors } from './job-stream/shared-cursors.port.js';
import { JobFeed } from './job-view/job-feed.port.js';
import { JobViewModule } from './job-view/job-view.module.js';
import { JobNotices } from './jobs/job-notices.port.js';
import { JobsModule } from './jobs/jobs.module.js';
import type { NatsJobs } from './nats-jobs.js';
import type { NatsSnapshots } from './nats-snapshots.js';
import { RunBatchModule } from './run-batch/run-batch.module.js';
import { OpenAiModule } from './openai/openai.module.js';
import { Platform } from './platform.port.js';
import { JobHistory } from './requests/job-history.port.js';
import { RequestsModule } from './requests/requests.module.js';
import { NameLookup } from './webhooks/name-lookup.port.js';
import { PendingDeliveries } from './webhooks/pending-deliveries.port.js';
import { RequestBodies } from './request-bodies.service.js';
import { WebhookSecretSnapshots } from './webhooks/webhook-secrets.port.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';
import { ControlPulse } from './queue-reasons/control-pulse.port.js';
import { QueueReasonsModule } from './queue-reasons/queue-reasons.module.js';

export interface AppParts {
  readonly platform: Platform;
  readonly jobs: NatsJobs;
  readonly snapshots: NatsSnapshots;
  readonly ratePeers: RatePeers;
  readonly nameLookup: NameLookup;
  readonly history: JobHistory;
  readonly bodies: RequestBodies;
}

/** All rooms over the parts that the process has opened. */
export function createAppModule({ platform, jobs, snapshots, ratePeers, nameLookup, history, bodies }: AppParts): Type {
  const inputs: MaintenanceInputs = {
    survey: jobs.survey,
    leases: jobs.leases,
    deletedEndpoints: snapshots.deletedEndpoints,
    pendingDeliveries: jobs.deliveries,
    get isViewWhole() {
      return jobs.feed.isWhole;
    },
  };
  const ports = [
    { provide: Platform, useValue: platform },
    { provide: ControlPlaneSnapshots, useValue: snapshots },
    { provide: JobNotices, useValue: jobs.notices },
    { provide: Doorbell, useValue: jobs.notices },
    { provide: JobFeed, useValue: jobs.feed },
    { provide: SharedCursors, useValue: jobs.readerCursors },
    { provide: MaintenanceInputs, useValue: inputs },
    { provide: PendingDeliveries, useValue: jobs.deliveries },
    { provide: WebhookSecretSnapshots, useValue: snapshots.webhookSecrets },
    { provide: NameLookup, useValue: nameLookup },
    { provide: ControlPulse, useValue: snapshots.pulse },
    { provide: RatePeers, useValue: ratePeers },
    { provide: JobHistory, useValue: history },
    { provide: RequestBodies, useValue: bodies },
  ];

  @Module({ providers: ports, exports: ports })
  class PlatformModule {}
  const platformModule = { module: PlatformModule, global: true };

  @Module({
    imports: [
      platformModule,
      EndpointDirectoryModule,
      JobRateLimitsModule,
      JobViewModule,
      QueueReasonsModule,
      JobsModule,
      RunBatchModule,
      JobStreamModule,
      OpenAiModule,
      AgentGatewayModule,
      JobMaintenanceModule,
      WebhooksModule,
      RequestsModule,
    ],
  })
  class AppModule {}
  return AppModule;
}
