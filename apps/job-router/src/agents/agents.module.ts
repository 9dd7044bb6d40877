import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../directory/directory.module.js';
import { EndpointDirectory } from '../directory/endpoint-directory.js';
import { Owners } from '../owners/owners.port.js';
import { Platform } from '../platform/platform.js';
import { AgentInputs } from './agent-inputs.port.js';
import { AgentJobsController } from './agent-jobs.controller.js';
import { AttemptOwners } from './attempts/attempt-owners.js';
import { EndedAttempts } from './attempts/ended-attempts.js';
import { GiveBack } from './attempts/give-back.js';
import { TakenJobs } from './attempts/taken-jobs.js';
import { HostEntries } from './host-entries.js';
import { gatewayMetrics } from './metrics.js';
import { PayloadParts } from './attempts/payload-parts.js';
import { Progress } from './attempts/progress.js';
import { Renewing } from './attempts/renewing.js';
import { Reporting } from './attempts/reporting.js';
import { Streaming } from './attempts/streaming.js';
import { Taking } from './attempts/taking.js';

/** Answers agents. Needs `Owners` and `AgentInputs`. */
@Module({
  imports: [EndpointDirectoryModule],
  controllers: [AgentJobsController],
  providers: [
    { provide: AttemptOwners, inject: [Owners], useFactory: (owners: Owners) => new AttemptOwners(owners) },
    {
      provide: HostEntries,
      inject: [Platform],
      useFactory: ({ clock, logger, metrics }: Platform) => {
        const { refused } = gatewayMetrics(metrics);
        return new HostEntries({ clock, logger, onRefused: (fault) => refused.inc({ fault }) });
      },
    },
    {
      provide: GiveBack,
      inject: [AttemptOwners, AgentInputs, Platform],
      useFactory: (owners: AttemptOwners, { random }: AgentInputs, { logger, metrics }: Platform) =>
        new GiveBack({ owners, random, metrics: gatewayMetrics(metrics), logger }),
    },
    {
      provide: TakenJobs,
      inject: [AttemptOwners, Platform],
      useFactory: (owners: AttemptOwners, { logger, metrics, settings }: Platform) => {
        const { unopened } = gatewayMetrics(metrics);
        return new TakenJobs({ owners, secrets: settings.secrets, logger, onUnopened: () => unopened.inc() });
      },
    },
    {
      provide: Taking,
      inject: [Owners, EndpointDirectory, TakenJobs, GiveBack, AgentInputs, Platform],
      useFactory: (...[owners, directory, handOut, giveBack, { random }, platform]: TakingParts) => {
        const { clock, logger, metrics } = platform;
        const parts = { owners, directory, handOut, giveBack, random };
        return new Taking({ ...parts, clock, metrics: gatewayMetrics(metrics), logger });
      },
    },
    {
      provide: Renewing,
      inject: [Owners, Platform],
      useFactory: (owners: Owners, { clock, logger, metrics }: Platform) =>
        new Renewing({ owners, clock, metrics: gatewayMetrics(metrics), logger }),
    },
    {
      provide: Streaming,
      inject: [AttemptOwners, AgentInputs, Platform],
      useFactory: (owners: AttemptOwners, { chunks, notices }: AgentInputs, { clock, metrics }: Platform) =>
        new Streaming({ owners, chunks, notices, clock, metrics: gatewayMetrics(metrics) }),
    },
    {
      provide: Progress,
      inject: [AttemptOwners, AgentInputs, Platform],
      useFactory: (owners: AttemptOwners, { blobs, random }: AgentInputs, { clock, logger }: Platform) =>
        new Progress({ owners, blobs, clock, random, logger }),
    },
    {
      provide: PayloadParts,
      inject: [AttemptOwners, AgentInputs, Platform],
      useFactory: (owners: AttemptOwners, { blobs }: AgentInputs, { clock }: Platform) =>
        new PayloadParts({ owners, blobs, clock }),
    },
    {
      provide: Reporting,
      inject: [AttemptOwners, AgentInputs, Platform],
      useFactory: (owners: AttemptOwners, { blobs, random }: AgentInputs, { clock, logger, metrics }: Platform) =>
        new Reporting({ owners, blobs, clock, random, metrics: gatewayMetrics(metrics), logger }),
    },
    {
      provide: EndedAttempts,
      inject: [Reporting, Platform],
      useFactory: (reporting: Reporting, { logger }: Platform) => new EndedAttempts({ reporting, logger }),
    },
  ],
  exports: [Taking, Progress],
})
export class AgentsModule {}

type TakingParts = readonly [Owners, EndpointDirectory, TakenJobs, GiveBack, AgentInputs, Platform];
