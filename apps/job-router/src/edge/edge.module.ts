import { Global, Module } from '@nestjs/common';
import type { Blobs, Chunks } from '@berth/payloads';
import type { OwnerRequests } from '@berth/messaging';
import { Jobs } from './jobs.port.js';
import { Owners } from '../owners/owners.port.js';
import { Platform } from '../platform/platform.js';
import { JobSubmissions } from './job-submissions.js';
import { JobWatches, type JobNotices } from './job-watches.js';
import { JobWishes } from './job-wishes.js';
import { ownerMetrics, watchMetrics } from './metrics.js';
import { NatsOwners, type LocalOwner } from '../owners/nats-owners.js';
import { OwnedJobs } from './owned-jobs.js';
import { OwnerCommands } from './owner-commands.js';

/** What the edge stands on; the composition root provides it. */
export abstract class EdgeParts {
  /** Names this process to the owners of logs, as its claims do. */
  abstract readonly incarnation: string;
  /** The desk of this process, for what it owns. */
  abstract readonly local: LocalOwner;
  abstract readonly requests: Pick<OwnerRequests, 'ask'>;
  abstract readonly notices: JobNotices;
  abstract readonly blobs: Blobs;
  abstract readonly chunks: Chunks;
}

/** Jobs at any router, whoever owns them. Needs `EdgeParts`; `JobWatches` is to be started, and told what is owned here. */
@Global()
@Module({
  providers: [
    {
      provide: Owners,
      inject: [Platform, EdgeParts],
      useFactory: ({ clock, metrics, random }: Platform, { local, requests }: EdgeParts) => {
        const owners = new NatsOwners({ local, requests, clock, random, metrics: ownerMetrics(metrics) });
        metrics.gaugeOf(
          { name: 'router_owner_questions', help: 'Questions to the owners of logs that are not answered yet.' },
          () => owners.inFlight,
        );
        return owners;
      },
    },
    {
      provide: JobWatches,
      inject: [Platform, EdgeParts, Owners],
      useFactory: ({ clock, metrics }: Platform, { incarnation, notices }: EdgeParts, owners: Owners) => {
        const watches = new JobWatches({ owners, notices, incarnation, clock, metrics: watchMetrics(metrics) });
        metrics.gaugeOf({ name: 'router_watches', help: 'Callers that wait for news of a job.' }, () => watches.size);
        return watches;
      },
    },
    {
      provide: Jobs,
      inject: [Platform, EdgeParts, Owners, JobWatches],
      useFactory: (
        { clock, logger, random, settings }: Platform,
        { blobs, chunks }: EdgeParts,
        ...[owners, watches]: [Owners, JobWatches]
      ) => {
        const commands = new OwnerCommands({ owners, clock });
        const wishes = new JobWishes({ blobs, clock, logger });
        const submissions = new JobSubmissions({ commands, wishes, random, secrets: settings.secrets });
        return new OwnedJobs({ owners, commands, submissions, watches, blobs, chunks, clock, random });
      },
    },
  ],
  exports: [Owners, JobWatches, Jobs],
})
export class EdgeModule {}
