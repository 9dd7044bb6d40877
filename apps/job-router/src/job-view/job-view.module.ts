import type { Clock } from '@berth/lifecycle';
import { Module } from '@nestjs/common';
import { Platform } from '../platform.port.js';
import { CheckpointWriter } from './checkpoint-writer.service.js';
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
      useFactory: ({ metrics }: Platform, feed: JobFeed) => {
        const view = new JobView();
        viewMetrics(metrics, view, () => feed.isWhole);
        return view;
      },
    },
    {
      provide: CheckpointWriter,
      inject: [Platform, JobView, JobFeed],
      useFactory: ({ clock, logger }: Platform, view: JobView, feed: JobFeed) => {
        const writer = new CheckpointWriter({ ledger: view.ledger, feed, clock, logger });
        follow(view, feed, { clock, writer });
        return writer;
      },
    },
    {
      provide: DemandPublisher,
      inject: [Platform, JobView, JobFeed],
      useFactory: ({ clock, settings }: Platform, view: JobView, feed: JobFeed) =>
        new DemandPublisher({ view, clock, routerId: settings.routerId, feed }),
    },
  ],
  exports: [JobView, DemandPublisher, CheckpointWriter],
})
export class JobViewModule {}

function follow(
  view: JobView,
  feed: JobFeed,
  { clock, writer }: { readonly clock: Clock; readonly writer: CheckpointWriter },
): void {
  feed.follow({
    restored: (checkpoint) => {
      view.ledger.restore(checkpoint);
    },
    changed: (sighting, from) => {
      if (from === 'event') view.applyEvent(sighting);
      else view.apply(sighting);
    },
    removed: (key) => {
      view.remove(key, clock.nowMs());
    },
    purged: (key) => {
      view.purge(key);
    },
    heard: (version) => {
      view.ledger.hear(version);
    },
    whole: () => {
      view.ledger.becomeWhole();
      writer.hurry();
    },
    interrupted: () => {
      view.ledger.interrupt();
    },
  });
}
