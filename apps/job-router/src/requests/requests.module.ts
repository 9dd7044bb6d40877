import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { JobFeed } from '../job-view/job-feed.port.js';
import { JobViewModule } from '../job-view/job-view.module.js';
import { JobView } from '../job-view/job-view.service.js';
import { Platform } from '../platform.port.js';
import { QueueReasonsModule } from '../queue-reasons/queue-reasons.module.js';
import { QueueReasons } from '../queue-reasons/queue-reasons.service.js';
import { JobHistory } from './job-history.port.js';
import { requestsMetrics } from './metrics.js';
import { RequestsController } from './requests.controller.js';
import { Requests } from './requests.service.js';

/** The list of an endpoint's jobs. Needs `JobHistory` and `JobFeed`. */
@Module({
  imports: [EndpointDirectoryModule, JobViewModule, QueueReasonsModule],
  controllers: [RequestsController],
  providers: [
    {
      provide: Requests,
      inject: [Platform, JobView, JobFeed, JobHistory, QueueReasons],
      useFactory: (...[{ logger, metrics, store }, view, feed, history, reasons]: Parts) =>
        new Requests({ store, view, feed, history, reasons, logger, metrics: requestsMetrics(metrics) }),
    },
  ],
})
export class RequestsModule {}

type Parts = [Platform, JobView, JobFeed, JobHistory, QueueReasons];
