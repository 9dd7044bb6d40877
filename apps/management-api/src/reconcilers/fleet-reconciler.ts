import { isDeepStrictEqual } from 'node:util';
import type { AssignmentSnapshot } from '@berth/contracts';
import {
  describeDecision,
  describeOutlook,
  hostIdOf,
  newFleetMemory,
  planFleet,
  throttledCount,
  workerIdOf,
  type CarriedOut,
  type Demand,
  type EndpointId,
  type EndpointPlan,
  type FleetEndpoint,
  type FleetMemory,
  type FleetOperation,
  type HardwareCatalog,
  type HostId,
  type ScalingRecord,
  type Worker,
  type WorkerId,
} from '@berth/domain';
import { inParallel, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { type LeaderTerm, requireTerm, TermOverError } from '../leadership/index.js';
import { assignedWorker, slotsOf } from './assigned-worker.js';
import type { DemandBoard } from './demand-board.js';
import type { FleetPublisher } from './fleet-publisher.port.js';
import type { FleetStore } from './fleet.store.js';
import type { ControllersMetrics } from './metrics.js';
import { CarriedOperations } from './operations/carried-operations.js';
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
  readonly metrics: Pick<ControllersMetrics, 'decisions' | 'operations' | 'suspects' | 'unplaced'>;
}

export interface PassOutcome {
  /** Unix ms at which the passing of time alone may change a decision; null if never. */
  readonly recheckAtMs: number | null;
}

interface Visit {
  readonly assignment: AssignmentSnapshot;
  readonly recheckAtMs: number | null;
}

type StaffingPlan = EndpointPlan & { readonly kind: 'staff' };

const WORKER_ID_LENGTH = 14;
/** Fewer than the connections of the process: the lease is renewed and jobs' history is written meanwhile. */
const VISITS_AT_ONCE = 4;

/**
 * One pass of the control loop: load, plan, carry out, publish. Level-triggered: each pass starts from the rows as they
 * are, so a pass that was cut off anywhere is simply followed by the next.
 */
export class FleetReconciler {
  readonly #options: FleetReconcilerOptions;
  readonly #operations: CarriedOperations;
  #memory: FleetMemory;
  #suspects: ReadonlySet<HostId> = new Set();
  /** Hosts that are to be woken as soon as the routers know of their workers. */
  readonly #toWake = new Set<HostId>();

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

  /**
   * An endpoint that fails keeps no other from being looked at.
   *
   * @throws TermOverError; an Error that names the endpoints that failed, once everything else is done
   */
  async run(): Promise<PassOutcome> {
    const { catalog, clock, demand, publisher, random, store, term } = this.#options;
    const fleet = await store.load(demand.endpointIds(clock.monotonicMs()));
    const [nowMs, heardMs] = [clock.nowMs(), clock.monotonicMs()];
    const newWorkerId = (): WorkerId => random.id(WORKER_ID_LENGTH) as WorkerId;
    const demandOf = ({ id, spec: { type } }: FleetEndpoint): Demand | null => demand.demandOf({ id, type }, heardMs);
    const plan = planFleet({ catalog, fleet, demandOf, memory: this.#memory }, { nowMs, newWorkerId });
    this.#memory = plan.memory;
    this.#tellSuspects(plan.suspects);
    const workers = Map.groupBy(fleet.workers, ({ endpointId }) => endpointId);
    const failed = new Set<EndpointId>();
    this.#count(plan.endpoints);
    for (const [endpointId, error] of plan.failed) this.#fail(failed, endpointId, error);
    const visits = await this.#visitAll(plan.endpoints, workers, { nowMs, failed });
    const assignments = { snapshots: visits.map(({ assignment }) => assignment), unknown: failed };
    await publisher.publishAssignments(assignments, () => {
      requireTerm(term);
    });
    publisher.pulse();
    this.#wake();
    if (failed.size > 0) throw new Error(`endpoints that failed: ${[...failed].join(', ')}`);
    // What was postponed needs nothing but another pass.
    if (plan.postponed > 0) return { recheckAtMs: nowMs };
    return { recheckAtMs: earliest(visits.map(({ recheckAtMs }) => recheckAtMs)) };
  }

  /** Ends when nothing is under way any more, also where the term is over. @throws TermOverError */
  async #visitAll(
    plans: readonly EndpointPlan[],
    workers: ReadonlyMap<EndpointId, readonly Worker[]>,
    { failed, nowMs }: { readonly nowMs: number; readonly failed: Set<EndpointId> },
  ): Promise<readonly Visit[]> {
    let over: TermOverError | null = null;
    const visits = await inParallel(plans, VISITS_AT_ONCE, async (plan) => {
      const { id } = plan.endpoint;
      try {
        return over === null ? [await this.#visit(plan, workers.get(id) ?? [], nowMs)] : [];
      } catch (error) {
        if (error instanceof TermOverError) over = error;
        else this.#fail(failed, id, error);
        return [];
      }
    });
    if (over !== null) throw over as TermOverError;
    return visits.flat();
  }

  #tellSuspects(suspects: ReadonlyMap<HostId, string>): void {
    const { logger, metrics } = this.#options;
    metrics.suspects.set(suspects.size);
    for (const [hostId, reason] of suspects) {
      if (!this.#suspects.has(hostId)) logger.warn(`a host is suspect: ${reason}`, { hostId });
    }
    for (const hostId of this.#suspects) {
      if (!suspects.has(hostId)) logger.info('a host is not suspect any more', { hostId });
    }
    this.#suspects = new Set(suspects.keys());
  }

  #count(plans: readonly EndpointPlan[]): void {
    const { unplaced } = this.#options.metrics;
    unplaced.reset();
    for (const plan of plans) {
      if (plan.kind === 'staff' && plan.unplaced !== null) {
        unplaced.inc({ reason: plan.unplaced.why.reason }, plan.unplaced.count);
      }
    }
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
      return { assignment: { endpointId, workers: [] }, recheckAtMs: null };
    }
    const staffed = await this.#operations.carryOut(plan.operations, workers);
    await this.#keep(plan, { before: workers, done: staffed.done }, nowMs);
    await this.#save(plan, nowMs);
    this.#askForImage(plan);
    return {
      assignment: this.#describe(plan, staffed.workers, nowMs),
      recheckAtMs: staffed.isCutShort ? nowMs : plan.decision.recheckAtMs,
    };
  }

  /** A host hears at once of the first image that a release waits for; of the others with its next report. */
  #askForImage({ endpoint, starts }: StaffingPlan): void {
    const before = endpoint.lastDecision?.starts?.pullAhead?.detail;
    const { pullAhead } = starts;
    if (pullAhead === undefined || pullAhead.detail === before) return;
    this.#toWake.add(pullAhead.hostId);
    this.#options.logger.info(pullAhead.detail, { endpointId: endpoint.id, hostId: pullAhead.hostId });
  }

  #note(operation: Exclude<FleetOperation, { readonly kind: 'note-stay' }>, workers: readonly Worker[]): void {
    const { logger, metrics } = this.#options;
    const { kind, reason } = operation;
    const [hostId, workerId] = [hostIdOf(operation), workerIdOf(operation)];
    const endpointId = kind === 'create-worker' ? operation.worker.endpointId : workers[0]?.endpointId;
    const detail = kind === 'drain-worker' && operation.detail !== undefined ? { detail: operation.detail } : {};
    this.#toWake.add(hostId);
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

  /** Before the decision itself: an entry that was lost on the way is made again, as long as the decision is news. */
  async #keep(plan: StaffingPlan, carriedOut: CarriedOut, nowMs: number): Promise<void> {
    const entry = describeDecision(plan, carriedOut, nowMs);
    if (entry === null) return;
    requireTerm(this.#options.term);
    await this.#options.history.append(entry);
  }

  /** A decision that says the same as the last one is not written again. */
  async #save({ decision, endpoint, starts, unplaced, waiting }: StaffingPlan, nowMs: number): Promise<void> {
    const { logger, metrics, store, term } = this.#options;
    const { desiredWorkers: desired, detail, reason } = decision;
    const { id: endpointId, lastDecision } = endpoint;
    const known = { waiting, unplaced: throttledCount(unplaced), starts };
    const record: ScalingRecord = { endpointId, desired, reason, detail, ...known, decidedAtMs: nowMs };
    if (isDeepStrictEqual({ ...record, decidedAtMs: lastDecision?.decidedAtMs }, lastDecision)) return;
    requireTerm(term);
    await store.saveScaling(record);
    const before = lastDecision?.desired ?? 0;
    if (before === desired) return;
    metrics.decisions.inc({ reason });
    logger.info(`desired workers ${before} → ${desired}: ${reason}, ${detail}`, { endpointId });
  }

  /** After the routers know: an agent that is told first would ask for jobs and hear that it has no such worker. */
  #wake(): void {
    for (const hostId of this.#toWake) {
      this.#options.publisher.wake(hostId);
      this.#toWake.delete(hostId);
    }
  }
}

const earliest = (instants: readonly (number | null)[]): number | null => {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known);
};
