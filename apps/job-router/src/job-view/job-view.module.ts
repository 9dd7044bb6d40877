import { Module } from '@nestjs/common';
import { Platform } from '../platform.port.js';
import { DemandPublisher } from './demand-publisher.service.js';
import { JobFeed } from './job-feed.port.js';
import { JobView } from './job-view.service.js';
import { viewMetrics } from './metrics.js';

/** The view of all jobs, and the demand that it tells. Needs `JobFeed`. */
@Module({
  providers: [
    {
      provide: JobView,
      inject: [Platform, JobFeed],
      useFactory: ({ clock, metrics }: Platform, feed: JobFeed) => {
        const view = new JobView();
        viewMetrics(metrics, view, () => feed.isWhole);
        feed.follow({
          changed: (sighting) => {
            view.apply(sighting);
          },
          removed: (key) => {
            view.remove(key, clock.nowMs());
          },
          purged: (key) => {
            view.purge(key);
          },
        });
        return view;
      },
    },
    {
      provide: DemandPublisher,
      inject: [Platform, JobView, JobFeed],
      useFactory: ({ clock, settings }: Platform, view: JobView, feed: JobFeed) =>
        new DemandPublisher({ view, clock, routerId: settings.routerId, feed }),
    },
  ],
  exports: [JobView, DemandPublisher],
})
export class JobViewModule {}
