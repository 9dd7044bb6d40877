import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../directory/directory.module.js';
import { Jobs } from '../edge/jobs.port.js';
import { Platform } from '../platform/platform.js';
import { QueueReasonsModule } from '../queue-reasons/queue-reasons.module.js';
import { QueueReasons } from '../queue-reasons/queue-reasons.js';
import { JobHistory } from './job-history.port.js';
import { requestsMetrics } from './metrics.js';
import { RequestsController } from './requests.controller.js';
import { Requests } from './requests.js';

/** The list of an endpoint's jobs. Needs `Jobs` and `JobHistory`. */
@Module({
  imports: [EndpointDirectoryModule, QueueReasonsModule],
  controllers: [RequestsController],
  providers: [
    {
      provide: Requests,
      inject: [Platform, Jobs, JobHistory, QueueReasons],
      useFactory: (...[{ clock, logger, metrics }, jobs, history, reasons]: Parts) =>
        new Requests({ jobs, history, reasons, clock, logger, metrics: requestsMetrics(metrics) }),
    },
  ],
})
export class RequestsModule {}

type Parts = [Platform, Jobs, JobHistory, QueueReasons];
