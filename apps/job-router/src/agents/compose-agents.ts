import type { Blobs, Chunks } from '@berth/payloads';
import type { EndpointDirectory } from '../directory/index.js';
import type { NatsWatcherNotices } from '../notices/index.js';
import type { Owners } from '../owners/index.js';
import type { Platform } from '../platform/index.js';
import { AttemptOwners } from './attempts/attempt-owners.js';
import { EndedAttempts } from './attempts/ended-attempts.js';
import { GiveBack } from './attempts/give-back.js';
import { JobUnsealer } from './attempts/job-unsealer.js';
import { PayloadParts } from './attempts/payload-parts.js';
import { Progress } from './attempts/progress.js';
import { Renewing } from './attempts/renewing.js';
import { Reporting } from './attempts/reporting.js';
import { Streaming } from './attempts/streaming.js';
import { JobTaking } from './attempts/job-taking.js';
import { HostEntries } from './host-entries.js';
import { gatewayMetrics } from './metrics.js';

export interface AgentsParts {
  readonly owners: Owners;
  readonly directory: EndpointDirectory;
  readonly blobs: Blobs;
  readonly chunks: Chunks;
  readonly notices: Pick<NatsWatcherNotices, 'tell'>;
}

/** The parts on which the controller of agents' questions stands. */
export function composeAgents(platform: Platform, { blobs, chunks, directory, notices, owners: logs }: AgentsParts) {
  const { clock, logger, random, settings, traces } = platform;
  const metrics = gatewayMetrics(platform.metrics);
  const owners = new AttemptOwners(logs);
  const parts = { owners, blobs, chunks, notices, clock, random, logger, metrics };
  const giveBack = new GiveBack(parts);
  const onUnopened = (): void => metrics.unopened.inc();
  const opener = new JobUnsealer({ owners, secrets: settings.secrets, logger, onUnopened, traces });
  const reporting = new Reporting(parts);
  return {
    giveBack,
    taking: new JobTaking({ ...parts, owners: logs, directory, opener, giveBack }),
    renewing: new Renewing({ ...parts, owners: logs }),
    streaming: new Streaming(parts),
    progress: new Progress(parts),
    payloadParts: new PayloadParts(parts),
    ended: new EndedAttempts({ reporting, logger, traces }),
    entries: new HostEntries({ clock, logger, onRefused: (fault) => metrics.refused.inc({ fault }) }),
  };
}
