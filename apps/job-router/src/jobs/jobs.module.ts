import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { JobViewModule } from '../job-view/job-view.module.js';
import { JobView } from '../job-view/job-view.service.js';
import { Platform } from '../platform.port.js';
import { JobCancel } from './job-cancel.service.js';
import { JobHealth } from './job-health.service.js';
import { JobIntake } from './job-intake.service.js';
import { JobNotices } from './job-notices.port.js';
import { JobReader } from './job-reader.service.js';
import { JobsController } from './jobs.controller.js';
import { jobMetrics, waitMetrics } from './metrics.js';

/** The job API. Needs `JobNotices`. */
@Module({
  imports: [EndpointDirectoryModule, JobViewModule],
  controllers: [JobsController],
  providers: [
    {
      provide: JobReader,
      inject: [Platform, JobNotices],
      useFactory: ({ store, metrics }: Platform, notices: JobNotices) => {
        const reader = new JobReader(store, notices);
        waitMetrics(metrics, () => reader.waits);
        return reader;
      },
    },
    {
      provide: JobIntake,
      inject: [Platform, JobReader],
      useFactory: ({ store, metrics, logger }: Platform, reader: JobReader) =>
        new JobIntake({ store, reader, metrics: jobMetrics(metrics), logger }),
    },
    {
      provide: JobCancel,
      inject: [Platform],
      useFactory: ({ store, metrics }: Platform) => new JobCancel(store, jobMetrics(metrics)),
    },
    {
      provide: JobHealth,
      inject: [JobView, EndpointDirectory],
      useFactory: (view: JobView, directory: EndpointDirectory) => new JobHealth(view, directory),
    },
  ],
  exports: [JobReader],
})
export class JobsModule {}
