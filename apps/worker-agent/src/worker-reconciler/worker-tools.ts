import type { HostId } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { Bridge } from '../bridge/index.js';
import type { BalancedWorkers, FreePorts } from '../load-balanced/index.js';
import type { WorkerRecords } from '../journal/index.js';
import type { ContainerRuntime } from '../runtimes/index.js';
import type { HostVolumes } from '../volumes/index.js';
import type { WorkerLogs } from '../worker-logs/index.js';
import type { WorkerMetrics } from './metrics.js';

/** What every worker's task works with. */
export interface WorkerTools {
  readonly hostId: HostId;
  readonly runtime: ContainerRuntime;
  readonly bridge: Bridge;
  /** Those that get requests, and no jobs. */
  readonly balanced: BalancedWorkers;
  /** For workers that share the ports of this machine. */
  readonly ports: FreePorts;
  readonly records: WorkerRecords;
  readonly volumes: Pick<HostVolumes, 'folderOf'>;
  /** What is said of workers, and what they print. */
  readonly logs: WorkerLogs;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: WorkerMetrics;
}
