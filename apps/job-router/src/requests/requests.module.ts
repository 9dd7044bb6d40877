import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { Jobs } from '../jobs.port.js';
import { Platform } from '../platform.port.js';
import { QueueReasonsModule } from '../queue-reasons/queue-reasons.module.js';
import { QueueReasons } from '../queue-reasons/queue-reasons.service.js';
import { JobHistory } from './job-history.port.js';
import { requestsMetrics } from './metrics.js';
import { RequestsController } from './requests.controller.js';
import { Requests } from './requests.service.js';

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
