import type { OwnerRequests } from '@berth/messaging';
import type { Blobs, Chunks } from '@berth/payloads';
import { type LocalOwner, NatsOwners, questionMetrics } from '../owners/index.js';
import type { Platform } from '../platform/index.js';
import { JobSubmissions } from './job-submissions.js';
import { JobWatches, type JobNotices } from './job-watches.js';
import { JobWishes } from './job-wishes.js';
import { edgeGauges, watchMetrics } from './metrics.js';
import { OwnedJobs } from './owned-jobs.js';
import { OwnerCommands } from './owner-commands.js';

export interface EdgeParts {
  /** Names this process to the owners of logs, as its claims do. */
  readonly incarnation: string;
  /** The desk of this process, for what it owns. */
  readonly local: LocalOwner;
  readonly requests: Pick<OwnerRequests, 'ask'>;
  readonly notices: JobNotices;
  readonly blobs: Blobs;
  readonly chunks: Chunks;
}

/** Jobs at any router, whichever router owns them. `watches` are to be started, and told what is owned here. */
export function composeEdge(platform: Platform, parts: EdgeParts) {
  const { clock, logger, metrics, random, settings } = platform;
  const { blobs, chunks, incarnation, local, notices, requests } = parts;
  const owners = new NatsOwners({ local, requests, clock, random, metrics: questionMetrics(metrics) });
  const watches = new JobWatches({ owners, notices, incarnation, clock, metrics: watchMetrics(metrics) });
  edgeGauges(metrics, { unanswered: () => owners.inFlight, watching: () => watches.size });
  const commands = new OwnerCommands({ owners, clock });
  const wishes = new JobWishes({ blobs, clock, logger });
  const submissions = new JobSubmissions({ commands, wishes, random, secrets: settings.secrets });
  const jobs = new OwnedJobs({ owners, commands, submissions, watches, blobs, chunks, clock, random });
  return { owners, watches, jobs };
}
