import { BUCKETS, assignmentSnapshotShape } from '@berth/contracts';
import { isUnreadable, type HardwareCatalog, type Shortage, type UnreadableMessage } from '@berth/domain';
import { Broker, SnapshotDirectory, SnapshotWriter, snapshotCodec } from '@berth/messaging';
import type { OpenProcess } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import type { LeaderLease, LeaderTerm } from '../leadership/index.js';
import type { Database } from '../persistence/index.js';
import { ScalingHistoryLoop, ScalingHistoryStore } from '../scaling-history/index.js';
import { ControlLoops } from './control-loops.js';
import { DecisionCounts } from './decisions/decision-counts.js';
import { DemandBoard } from './demand/demand-board.js';
import { FleetReconciler } from './fleet-reconciler.js';
import { FleetStore } from './fleet.store.js';
import { controllersMetrics } from './metrics.js';
import { NatsFleetPublisher } from './nats-fleet-publisher.js';

export interface ReconcilerParts extends OpenProcess {
  readonly catalog: HardwareCatalog;
  readonly database: Database;
  readonly connection: NatsConnection;
  readonly inboxPrefix: string;
  readonly lease: LeaderLease;
  readonly onUnreadable: (message: UnreadableMessage) => void;
  /** Where new nodes would stand; null: none would come. */
  readonly nodesComeTo: string | null;
}

/**
 * Starts the loops of the leader, and what tells routers and agents of their results.
 *
 * @returns what new nodes would mend; null where this process does not know
 */
export async function startReconcilers(parts: ReconcilerParts): Promise<() => readonly Shortage[] | null> {
  const { onStop } = parts;
  const publisher = await composePublisher(parts);
  onStop('assignments', () => publisher.stop());
  await publisher.start();
  const history = new ScalingHistoryStore(parts.database);
  const loops = composeLoops(parts, publisher, history);
  loops.start();
  onStop('control loops', () => loops.stop());
  const clearing = new ScalingHistoryLoop({ ...parts, history });
  clearing.start();
  onStop('scaling history', () => clearing.stop());
  return () => loops.shortages;
}

async function composePublisher(parts: ReconcilerParts): Promise<NatsFleetPublisher> {
  const { clock, connection, inboxPrefix, logger, onUnreadable } = parts;
  const broker = await Broker.over({ connection, inboxPrefix, onUnreadable });
  const bucket = { broker, clock, bucket: BUCKETS.assignments, codec: snapshotCodec(assignmentSnapshotShape) };
  const onError = (error: unknown): void => {
    if (!isUnreadable(error)) logger.warn('the bucket of assignments', { error });
  };
  return new NatsFleetPublisher({
    connection,
    writer: new SnapshotWriter(bucket),
    directory: new SnapshotDirectory({ ...bucket, onError }),
  });
}

function composeLoops(
  parts: ReconcilerParts,
  publisher: NatsFleetPublisher,
  history: ScalingHistoryStore,
): ControlLoops {
  const {
    catalog,
    clock,
    connection,
    database,
    lease,
    logger,
    metrics: registry,
    nodesComeTo,
    onUnreadable,
    random,
  } = parts;
  const store = new FleetStore(database);
  const demand = new DemandBoard();
  const metrics = controllersMetrics(registry);
  const counts = new DecisionCounts(metrics.decisions, clock);
  const fleet = { catalog, store, history, demand, publisher, clock, random, logger, metrics, counts, nodesComeTo };
  const newFleet = (term: LeaderTerm): FleetReconciler => new FleetReconciler({ ...fleet, term });
  return new ControlLoops({ connection, lease, demand, newFleet, clock, logger, metrics: registry, onUnreadable });
}
