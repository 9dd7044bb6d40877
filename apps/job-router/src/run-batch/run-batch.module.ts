import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../directory/directory.module.js';
import { JobRateLimitsModule } from '../job-rate-limits/job-rate-limits.module.js';
import { JobRates } from '../job-rate-limits/job-rates.js';
import { JobIntake } from '../jobs/job-intake.js';
import { JobsModule } from '../jobs/jobs.module.js';
import { Platform } from '../platform/platform.js';
import { batchMetrics } from './metrics.js';
import { RunBatchController } from './run-batch.controller.js';
import { RunBatch } from './run-batch.js';

/** `/run-batch`. */
@Module({
  imports: [EndpointDirectoryModule, JobRateLimitsModule, JobsModule],
  controllers: [RunBatchController],
  providers: [
    {
      provide: RunBatch,
      inject: [Platform, JobIntake, JobRates],
      useFactory: ({ logger, metrics, settings }: Platform, intake: JobIntake, rates: JobRates) =>
        new RunBatch({ intake, rates, docsUrl: settings.docsUrl, metrics: batchMetrics(metrics), logger }),
    },
  ],
})
export class RunBatchModule {}
