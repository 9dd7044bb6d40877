import type { AssignmentSnapshot } from '@berth/contracts';
import {
  countGpus,
  describeOutlook,
  hostIdOf,
  hostRooms,
  newFleetMemory,
  planFleet,
  shortagesIn,
  workerIdOf,
  workerSlots,
  type Demand,
  type EndpointId,
  type EndpointPlan,
  type FleetEndpoint,
  type FleetMemory,
  type FleetOperation,
  type HardwareCatalog,
  type HostId,
  type Shortage,
  type Worker,
  type WorkerId,
} from '@berth/domain';
import { inParallel, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { type LeaderTerm, requireTerm, TermOverError } from '../leadership/index.js';
import { assignedWorker, slotsOf } from './assigned-worker.js';
import type { DecisionCounts } from './decisions/decision-counts.js';
import { writeDecision, type CarriedPlan, type StaffingPlan } from './decisions/write-decision.js';
import type { DemandBoard } from './demand/demand-board.js';
import type { FleetPublisher } from './fleet-publisher.port.js';
import type { FleetStore } from './fleet.store.js';
import type { ControllersMetrics, FleetFigures } from './metrics.js';
import { CarriedOperations } from './operations/carried-operations.js';
import { HostWakes } from './operations/host-wakes.js';
import type { ScalingHistoryStore } from '../scaling-history/index.js';

export interface FleetReconcilerOptions {
  readonly catalog: HardwareCatalog;
  readonly store: Pick<FleetStore, keyof FleetStore>;
  readonly history: Pick<ScalingHistoryStore, 'append'>;
  readonly demand: DemandBoard;
  readonly publisher: FleetPublisher;
  readonly clock: Clock;
  readonly random: Random;
  /** Asked before every write: a leader whose term is over writes nothing more. */
  readonly term: LeaderTerm;
  readonly logger: Logger;
  readonly metrics: Pick<ControllersMetrics, 'operations'>;
  readonly counts: Pick<DecisionCounts, 'note'>;
  /** Where new nodes would stand; null: none would come. */
  readonly nodesComeTo?: string | null;
}

export interface PassOutcome {
  /** Unix ms at which the passing of time alone may change a decision; null if never. */
  readonly recheckAtMs: number | null;
}

interface Visit {
  readonly assignment: AssignmentSnapshot;
  readonly recheckAtMs: number | null;
  /** What is left to be written down of it; null of an endpoint that is forgotten. */
  readonly carried: CarriedPlan | null;
}

const WORKER_ID_LENGTH = 14;
/** Fewer than the connections of the process: the lease is renewed and jobs' history is written meanwhile. */
const VISITS_AT_ONCE = 4;

/**
 * One pass of the control loop: load, plan, carry out, publish, write down why. A job may wait for what is carried out, and
 * nobody waits for the reasons, so these come last. Level-triggered: each pass starts from the rows as they are, so a pass
 * that was cut off anywhere is simply followed by the next, to which a decision that was not written down is news still.
 */
export class FleetReconciler {
  readonly #options: FleetReconcilerOptions;
  readonly #operations: CarriedOperations;
  #memory: FleetMemory;
  #suspects: ReadonlySet<HostId> = new Set();
  readonly #wakes = new HostWakes();
  #figures: FleetFigures | null = null;
  #shortages: readonly Shortage[] | null = null;

  constructor(options: FleetReconcilerOptions) {
    this.#options = options;
    this.#operations = new CarriedOperations({
      ...options,
      onDone: (operation, workers) => {
        if (operation.kind !== 'note-stay') this.#note(operation, workers);
      },
    });
    this.#memory = newFleetMemory(options.clock.nowMs());
  }

  /** As the last pass found them; null before the first. */
  get figures(): FleetFigures | null {
    return this.#figures;
  }

  /** What new nodes would mend, as the last pass found it; null before the first. */
  get shortages(): readonly Shortage[] | null {
    return this.#shortages;
  }

  /**
   * An endpoint that fails keeps no other from being looked at.
   *
   * @throws TermOverError; an Error that names the endpoints that failed, once everything else is done
   */
  async run(): Promise<PassOutcome> {
    const { catalog, clock, demand, random, store } = this.#options;
    const fleet = await store.load(demand.endpointIds(clock.monotonicMs()));
    const [nowMs, heardMs] = [clock.nowMs(), clock.monotonicMs()];
    const newWorkerId = (): WorkerId => random.id(WORKER_ID_LENGTH) as WorkerId;
    const workers = Map.groupBy(fleet.workers, ({ endpointId }) => endpointId);
    const demandOf = ({ id, spec }: FleetEndpoint): Demand | null => {
      const rooms = hostRooms(workers.get(id) ?? [], workerSlots(spec) ?? 1);
      return demand.demandOf({ id, type: spec.type, rooms }, heardMs);
    };
    const plan = planFleet({ catalog, fleet, demandOf, memory: this.#memory }, { nowMs, newWorkerId });
    this.#memory = plan.memory;
    this.#figures = {
      gpus: countGpus(fleet, { observingSinceMs: plan.memory.observingSinceMs, nowMs }),
      suspectHosts: plan.suspects.size,
      unplaced: unplacedByReason(plan.endpoints),
    };
    this.#shortages = this.#shortagesIn(plan.endpoints, nowMs);
    this.#tellSuspects(plan.suspects);
    const failed = new Set<EndpointId>();
    for (const [endpointId, error] of plan.failed) this.#fail(failed, endpointId, error);
    const endpointIdOf = ({ endpoint }: EndpointPlan): EndpointId => endpoint.id;
    const visits = await this.#forEach(plan.endpoints, { endpointIdOf, failed }, (each) =>
      this.#visit(each, workers.get(each.endpoint.id) ?? [], nowMs),
    );
    try {
      await this.#tell(visits, failed);
    } finally {
      // What was done belongs in the history, also where nobody could be told of it.
      await this.#writeAll(visits, { nowMs, failed });
    }
    if (failed.size > 0) throw new Error(`endpoints that failed: ${[...failed].join(', ')}`);
    // What was postponed needs nothing but another pass.
    if (plan.postponed > 0) return { recheckAtMs: nowMs };
    return { recheckAtMs: earliest(visits.map(({ recheckAtMs }) => recheckAtMs)) };
  }

  /** An endpoint that fails keeps no other waiting. @throws TermOverError once nothing is under way any more */
  async #forEach<Item, Result>(
    items: readonly Item[],
    { endpointIdOf, failed }: { readonly endpointIdOf: (item: Item) => EndpointId; readonly failed: Set<EndpointId> },
    act: (item: Item) => Promise<Result>,
  ): Promise<readonly Result[]> {
    let over: TermOverError | null = null;
    const results = await inParallel(items, VISITS_AT_ONCE, async (item) => {
      try {
        return over === null ? [await act(item)] : [];
      } catch (error) {
        if (error instanceof TermOverError) over = error;
        else this.#fail(failed, endpointIdOf(item), error);
        return [];
      }
    });
    if (over !== null) throw over as TermOverError;
    return results.flat();
  }

  /** @throws TermOverError; an Error where the routers cannot be told */
  async #tell(visits: readonly Visit[], failed: ReadonlySet<EndpointId>): Promise<void> {
    const { publisher, term } = this.#options;
    const assignments = { snapshots: visits.map(({ assignment }) => assignment), unknown: failed };
    await publisher.publishAssignments(assignments, () => {
      requireTerm(term);
    });
    publisher.pulse();
    // After the routers know: an agent that is told first would ask for jobs and hear that it has no such worker.
    this.#wakes.send(publisher);
  }

  /** @throws TermOverError */
  async #writeAll(
    visits: readonly Visit[],
    { failed, nowMs }: { readonly failed: Set<EndpointId>; readonly nowMs: number },
  ): Promise<void> {
    const carried = visits.flatMap((visit) => visit.carried ?? []);
    const endpointIdOf = ({ plan }: CarriedPlan): EndpointId => plan.endpoint.id;
    await this.#forEach(carried, { endpointIdOf, failed }, async (each) => {
      await writeDecision(each, nowMs, this.#options);
      this.#askForImage(each.plan);
    });
  }

  #shortagesIn(plans: readonly EndpointPlan[], nowMs: number): readonly Shortage[] {
    const { catalog, nodesComeTo = null } = this.#options;
    return nodesComeTo === null ? [] : shortagesIn(plans, { catalog, dataCenterId: nodesComeTo, nowMs });
  }

  #tellSuspects(suspects: ReadonlyMap<HostId, string>): void {
    const { logger } = this.#options;
    for (const [hostId, reason] of suspects) {
      if (!this.#suspects.has(hostId)) logger.warn(`a host is suspect: ${reason}`, { hostId });
    }
    for (const hostId of this.#suspects) {
      if (!suspects.has(hostId)) logger.info('a host is not suspect any more', { hostId });
    }
    this.#suspects = new Set(suspects.keys());
  }

  #fail(failed: Set<EndpointId>, endpointId: EndpointId, error: unknown): void {
    this.#options.logger.warn('the workers of an endpoint could not be seen to', { endpointId, error });
    failed.add(endpointId);
  }

  async #visit(plan: EndpointPlan, workers: readonly Worker[], nowMs: number): Promise<Visit> {
    const { store, term } = this.#options;
    requireTerm(term);
    if (plan.kind === 'forget') {
      const { id: endpointId } = plan.endpoint;
      await store.forgetEndpoint(endpointId);
      return { assignment: { endpointId, workers: [] }, recheckAtMs: null, carried: null };
    }
    const staffed = await this.#operations.carryOut(plan.operations, workers);
    return {
      assignment: this.#describe(plan, staffed.workers, nowMs),
      recheckAtMs: staffed.isCutShort ? nowMs : plan.decision.recheckAtMs,
      carried: { plan, before: workers, done: staffed.done },
    };
  }

  /**
   * A host hears at once of the first image that a release waits for, now that it is written down which; of the others
   * with its next report.
   */
  #askForImage({ endpoint, starts }: StaffingPlan): void {
    const before = endpoint.lastDecision?.starts?.pullAhead?.detail;
    const { pullAhead } = starts;
    const { publisher } = this.#options;
    if (pullAhead === undefined || pullAhead.detail === before) return;
    publisher.wake(pullAhead.hostId, { resumedIds: [] });
    this.#options.logger.info(pullAhead.detail, { endpointId: endpoint.id, hostId: pullAhead.hostId });
  }

  #note(operation: Exclude<FleetOperation, { readonly kind: 'note-stay' }>, workers: readonly Worker[]): void {
    const { logger, metrics } = this.#options;
    const { kind, reason } = operation;
    const [hostId, workerId] = [hostIdOf(operation), workerIdOf(operation)];
    const endpointId = kind === 'create-worker' ? operation.worker.endpointId : workers[0]?.endpointId;
    const detail = kind === 'drain-worker' && operation.detail !== undefined ? { detail: operation.detail } : {};
    this.#wakes.note(operation);
    metrics.operations.inc({ kind, reason });
    logger.info(`${kind}: ${reason}`, { endpointId, hostId, workerId, ...detail });
  }

  #describe(
    { decision, endpoint: { deletedAtMs, id: endpointId, spec }, starts, unplaced, waiting }: StaffingPlan,
    workers: readonly Worker[],
    nowMs: number,
  ): AssignmentSnapshot {
    const [first] = waiting;
    const sinceMs = first === undefined ? nowMs : Date.parse(first.since);
    const outlook = describeOutlook(
      {
        desired: deletedAtMs === null ? decision.desiredWorkers : 0,
        scalingReason: decision.reason,
        workers,
        unplaced: unplaced === null ? null : { ...unplaced, sinceMs },
        starts,
        previous: this.#options.publisher.assignmentOf(endpointId)?.outlook ?? null,
      },
      nowMs,
    );
    return { endpointId, workers: workers.map(assignedWorker), ...slotsOf(spec), outlook };
  }
}

const earliest = (instants: readonly (number | null)[]): number | null => {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known);
};

function unplacedByReason(plans: readonly EndpointPlan[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const plan of plans) {
    if (plan.kind !== 'staff' || plan.unplaced === null) continue;
    const { count, why } = plan.unplaced;
    counts.set(why.reason, (counts.get(why.reason) ?? 0) + count);
  }
  return counts;
}
