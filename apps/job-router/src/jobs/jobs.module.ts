import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../directory/directory.module.js';
import { EndpointDirectory } from '../directory/endpoint-directory.js';
import { Jobs } from '../edge/jobs.port.js';
import { Platform } from '../platform/platform.js';
import { QueueReasonsModule } from '../queue-reasons/queue-reasons.module.js';
import { QueueReasons } from '../queue-reasons/queue-reasons.js';
import { RequestBodies } from '../request-bodies/request-bodies.js';
import { HeldCalls } from './held-calls.js';
import { JobCommands } from './job-commands.js';
import { JobIntake } from './job-intake.js';
import { JobReader } from './job-reader.js';
import { JobsController } from './jobs.controller.js';
import { jobMetrics, waitMetrics } from './metrics.js';

/** The job API. Needs `Jobs` and `RequestBodies`. */
@Module({
  imports: [EndpointDirectoryModule, QueueReasonsModule],
  controllers: [JobsController],
  providers: [
    {
      provide: HeldCalls,
      inject: [Platform, EndpointDirectory],
      useFactory: ({ metrics }: Platform, directory: EndpointDirectory) => {
        const held = new HeldCalls({ endpointOf: (endpointId) => directory.knownEndpoint(endpointId) });
        waitMetrics(metrics, () => held.size);
        return held;
      },
    },
    {
      provide: JobReader,
      inject: [Platform, Jobs, QueueReasons, HeldCalls],
      useFactory: ({ clock }: Platform, ...[jobs, reasons, held]: [Jobs, QueueReasons, HeldCalls]) =>
        new JobReader({ jobs, reasons, held, clock }),
    },
    {
      provide: JobIntake,
      inject: [Platform, Jobs, JobReader, RequestBodies],
      useFactory: (
        { metrics, logger, settings }: Platform,
        ...[jobs, reader, bodies]: [Jobs, JobReader, RequestBodies]
      ) => new JobIntake({ jobs, reader, secrets: settings.secrets, bodies, metrics: jobMetrics(metrics), logger }),
    },
    {
      provide: JobCommands,
      inject: [Platform, Jobs],
      useFactory: ({ metrics }: Platform, jobs: Jobs) => new JobCommands(jobs, jobMetrics(metrics)),
    },
  ],
  exports: [HeldCalls, JobIntake, JobReader],
})
export class JobsModule {}
