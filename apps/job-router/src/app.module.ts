import { Module, type Type } from '@nestjs/common';
import { AgentGatewayModule } from './agent-gateway/agent-gateway.module.js';
import { Doorbell } from './agent-gateway/dispatcher/doorbell.port.js';
import { EndpointDirectoryModule } from './endpoint-directory/endpoint-directory.module.js';
import { ControlPlaneSnapshots } from './endpoint-directory/snapshots.port.js';
import { JobMaintenanceModule } from './job-maintenance/job-maintenance.module.js';
import { MaintenanceInputs } from './job-maintenance/maintenance.port.js';
import { JobStreamModule } from './job-stream/job-stream.module.js';
import { JobFeed } from './job-view/job-feed.port.js';
import { JobViewModule } from './job-view/job-view.module.js';
import { JobNotices } from './jobs/job-notices.port.js';
import { JobsModule } from './jobs/jobs.module.js';
import type { NatsJobs } from './nats-jobs.js';
import type { NatsSnapshots } from './nats-snapshots.js';
import { Platform } from './platform.port.js';

export interface AppParts {
  readonly platform: Platform;
  readonly jobs: NatsJobs;
  readonly snapshots: NatsSnapshots;
}

/** All rooms over the parts that the process has opened. */
export function createAppModule({ platform, jobs, snapshots }: AppParts): Type {
  const inputs: MaintenanceInputs = {
    survey: jobs.survey,
    leases: jobs.leases,
    deletedEndpoints: snapshots.deletedEndpoints,
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
    { provide: MaintenanceInputs, useValue: inputs },
  ];

  @Module({ providers: ports, exports: ports })
  class PlatformModule {}
  const platformModule = { module: PlatformModule, global: true };

  @Module({
    imports: [
      platformModule,
      EndpointDirectoryModule,
      JobViewModule,
      JobsModule,
      JobStreamModule,
      AgentGatewayModule,
      JobMaintenanceModule,
    ],
  })
  class AppModule {}
  return AppModule;
}
