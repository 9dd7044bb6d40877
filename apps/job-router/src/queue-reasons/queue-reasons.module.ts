import { Module } from '@nestjs/common';
import { EndpointDirectoryModule } from '../endpoint-directory/endpoint-directory.module.js';
import { EndpointDirectory } from '../endpoint-directory/endpoint-directory.service.js';
import { JobFeed } from '../job-view/job-feed.port.js';
import { JobViewModule } from '../job-view/job-view.module.js';
import { JobView } from '../job-view/job-view.service.js';
import { Platform } from '../platform.port.js';
import { ControlPulse } from './control-pulse.port.js';
import { pulseMetrics } from './metrics.js';
import { QueueReasons } from './queue-reasons.service.js';

/** Why jobs wait. Needs `ControlPulse` and `JobFeed`. */
@Module({
  imports: [EndpointDirectoryModule, JobViewModule],
  providers: [
    {
      provide: QueueReasons,
      inject: [Platform, JobView, JobFeed, EndpointDirectory, ControlPulse],
      useFactory: (...[{ clock, metrics }, view, feed, directory, pulse]: Parts) => {
        pulseMetrics(metrics, pulse, clock);
        return new QueueReasons({ view, feed, directory, pulse, clock });
      },
    },
  ],
  exports: [QueueReasons],
})
export class QueueReasonsModule {}

type Parts = [Platform, JobView, JobFeed, EndpointDirectory, ControlPulse];
