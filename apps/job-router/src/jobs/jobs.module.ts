import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { KeyedRequests } from '../idempotency/keyed-requests.service.js';
import { JobViewModule } from '../job-view/job-view.module.js';
import { JobView } from '../job-view/job-view.service.js';
import { Platform } from '../platform.port.js';
import { RequestBodies } from '../request-bodies.service.js';
import { QueueReasonsModule } from '../queue-reasons/queue-reasons.module.js';
import { QueueReasons } from '../queue-reasons/queue-reasons.service.js';
import { JobCancel } from './job-cancel.service.js';
import { JobHealth } from './job-health.service.js';
import { JobIntake } from './job-intake.service.js';
import { JobNotices } from './job-notices.port.js';
import { JobLife } from './job-life.service.js';
import { JobPurge } from './job-purge.service.js';
import { JobReader } from './job-reader.service.js';
import { JobRetry } from './job-retry.service.js';
import { JobsController } from './jobs.controller.js';
import { jobMetrics, waitMetrics } from './metrics.js';

/** The job API. Needs `JobNotices` and `RequestBodies`. */
@Module({
  imports: [EndpointDirectoryModule, IdempotencyModule, JobViewModule, QueueReasonsModule],
  controllers: [JobsController],
  providers: [
    {
      provide: JobReader,
      inject: [Platform, JobNotices, QueueReasons],
      useFactory: ({ store, metrics }: Platform, notices: JobNotices, reasons: QueueReasons) => {
        const reader = new JobReader(store, notices, reasons);
        waitMetrics(metrics, () => reader.waits);
        return reader;
      },
    },
    {
      provide: JobIntake,
      inject: [Platform, JobReader, KeyedRequests, RequestBodies],
      useFactory: (
        { store, metrics, logger, settings }: Platform,
        ...[reader, keyed, bodies]: [JobReader, KeyedRequests, RequestBodies]
      ) =>
        new JobIntake({
          store,
          keyed,
          reader,
          secrets: settings.secrets,
          bodies,
          metrics: jobMetrics(metrics),
          logger,
        }),
    },
    {
      provide: JobCancel,
      inject: [Platform],
      useFactory: ({ store, metrics }: Platform) => new JobCancel(store, jobMetrics(metrics)),
    },
    {
      provide: JobRetry,
      inject: [Platform],
      useFactory: ({ store, metrics }: Platform) => new JobRetry(store, jobMetrics(metrics)),
    },
    {
      provide: JobPurge,
      inject: [Platform, JobView],
      useFactory: ({ store, metrics }: Platform, view: JobView) => new JobPurge(store, view, jobMetrics(metrics)),
    },
    {
      provide: JobLife,
      inject: [Platform],
      useFactory: ({ store }: Platform) => new JobLife(store),
    },
    {
      provide: JobHealth,
      inject: [JobView, EndpointDirectory],
      useFactory: (view: JobView, directory: EndpointDirectory) => new JobHealth(view, directory),
    },
  ],
  exports: [JobIntake, JobReader],
})
export class JobsModule {}
