import type { Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import type { ControlSnapshots } from '../snapshots/index.js';
import { DroppedReportEntries } from './dropped-report-entries.js';
import { HostSessionsService, type HostSessionsOptions } from './host-sessions-service.js';
import type { HostSessionsStore } from './host-sessions.store.js';
import { UnopenableWorkers } from './unopenable-workers.js';

export interface HostSessionParts extends Pick<
  HostSessionsOptions,
  'catalog' | 'credentials' | 'deletedVolumes' | 'envs' | 'imagesAhead'
> {
  readonly store: HostSessionsStore;
  readonly snapshots: Pick<ControlSnapshots, 'announce'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
}

/** The sessions of hosts; what is wrong with one of them is counted and logged. */
export function composeHostSessions({ logger, metrics, snapshots, ...parts }: HostSessionParts): HostSessionsService {
  const dropped = new DroppedReportEntries(metrics, logger);
  const unopenable = new UnopenableWorkers(metrics, logger);
  return new HostSessionsService({
    ...parts,
    onChange: () => {
      snapshots.announce('all');
    },
    onDropped: (hostId, entries) => {
      dropped.note(hostId, entries);
    },
    onUnopenable: (hostId, workers) => {
      unopenable.note(hostId, workers);
    },
  });
}
