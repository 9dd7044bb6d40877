import type { Demand, ScaleDecision } from '../scaling/index.js';
import type { ReleaseStarts } from '../worker/index.js';
import type { FleetEndpoint, WaitingWorker } from './fleet.js';
import type { FleetOperation } from './fleet-operation.js';
import type { UnplacedTally } from './waiting-workers.js';

/** What is to become of one endpoint's workers. */
export type EndpointPlan =
  /** It was deleted, and nothing is left of it. */
  | { readonly kind: 'forget'; readonly endpoint: FleetEndpoint }
  | {
      readonly kind: 'staff';
      readonly endpoint: FleetEndpoint;
      readonly decision: ScaleDecision;
      /** What it rests on; null: unknown. */
      readonly demand: Demand | null;
      /** In their order; each as small as it can be. */
      readonly operations: readonly FleetOperation[];
      readonly waiting: readonly WaitingWorker[];
      /** How the workers of its latest release start, now that they were looked at. */
      readonly starts: ReleaseStarts;
      /** How many could not be placed, and why, with the filter that each host failed at. */
      readonly unplaced: UnplacedTally | null;
    };
