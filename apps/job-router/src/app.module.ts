import { Module, type Provider, type Type } from '@nestjs/common';
import { EndpointDirectoryModule } from './directory/directory.module.js';
import { ControlPlaneSnapshots } from './directory/snapshots.port.js';
import type { Imports, JobCore } from './log-core.js';
import { JobRateLimitsModule } from './job-rate-limits/job-rate-limits.module.js';
import { RatePeers } from './job-rate-limits/rate-peers.port.js';
import { JobStreamModule } from './job-stream/job-stream.module.js';
import { SharedCursors } from './job-stream/shared-cursors.port.js';
import { JobsModule } from './jobs/jobs.module.js';
import type { NatsSnapshots } from './directory/nats-snapshots.js';
import { OpenAiModule } from './openai/openai.module.js';
import { Platform } from './platform/platform.js';
import { ControlPulse } from './directory/control-pulse.port.js';
import { QueueReasonsModule } from './queue-reasons/queue-reasons.module.js';
import { RequestBodies } from './request-bodies/request-bodies.js';
import { JobHistory } from './job-history/job-history.port.js';
import { RequestsModule } from './job-history/requests.module.js';
import { RunBatchModule } from './run-batch/run-batch.module.js';
import { DeliveryLogModule } from './webhooks/delivery-log.module.js';
import { NameLookup } from './webhooks/name-lookup.port.js';
import { WebhookSecretSnapshots } from './directory/webhook-secrets.js';

export interface AppParts {
  readonly platform: Platform;
  readonly core: JobCore;
  readonly snapshots: NatsSnapshots;
  readonly ratePeers: RatePeers;
  readonly nameLookup: NameLookup;
  readonly history: JobHistory;
  readonly bodies: RequestBodies;
}

/** What callers reach, over `Jobs` alone. */
const ROOMS_OVER_JOBS: Imports = [
  QueueReasonsModule,
  JobsModule,
  RunBatchModule,
  JobStreamModule,
  OpenAiModule,
  RequestsModule,
  DeliveryLogModule,
];

/** All rooms over the parts that the process has opened. */
export function createAppModule(parts: AppParts): Type {
  const { core } = parts;
  @Module({
    imports: [
      provideEverywhere([...platformPorts(parts), ...core.providers]),
      EndpointDirectoryModule,
      JobRateLimitsModule,
      ...core.imports,
      ...ROOMS_OVER_JOBS,
    ],
  })
  class AppModule {}
  return AppModule;
}

const platformPorts = ({
  bodies,
  core,
  history,
  nameLookup,
  platform,
  ratePeers,
  snapshots,
}: AppParts): readonly Provider[] => [
  { provide: Platform, useValue: platform },
  { provide: ControlPlaneSnapshots, useValue: snapshots },
  { provide: SharedCursors, useValue: core.readerCursors },
  { provide: WebhookSecretSnapshots, useValue: snapshots.webhookSecrets },
  { provide: NameLookup, useValue: nameLookup },
  { provide: ControlPulse, useValue: snapshots.pulse },
  { provide: RatePeers, useValue: ratePeers },
  { provide: JobHistory, useValue: history },
  { provide: RequestBodies, useValue: bodies },
];

function provideEverywhere(ports: readonly Provider[]): Imports[number] {
  @Module({})
  class PortsModule {}
  return { module: PortsModule, global: true, providers: [...ports], exports: [...ports] };
}
