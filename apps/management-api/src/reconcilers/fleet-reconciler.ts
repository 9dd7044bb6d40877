import { isDeepStrictEqual } from 'node:util';
import type { AssignmentSnapshot } from '@berth/contracts';
import {
  describeDecision,
  describeOutlook,
  hostIdOf,
  newFleetMemory,
  planFleet,
  throttledCount,
  withOperation,
  workerIdOf,
  type CarriedOut,
  type Demand,
  type EndpointId,
  type EndpointPlan,
  type FleetEndpoint,
  type FleetMemory,
  type FleetOperation,
  type HostId,
  type ScalingRecord,
  type Worker,
  type WorkerId,
} from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { type LeaderTerm, requireTerm, TermOverError } from '../leadership/index.js';
import { assignedWorker, slotsOf } from './assigned-worker.js';
import type { DemandBoard } from './demand-board.js';
import type { FleetPublisher } from './fleet-publisher.port.js';
import type { FleetStore, NewWorker } from './fleet.store.js';
import type { ControllersMetrics } from './metrics.js';
import type { ScalingHistoryStore } from '../scaling-history/index.js';

export interface FleetReconcilerOptions {
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

/** What was carried out of a plan. */
interface Staffed {
  readonly done: readonly FleetOperation[];
  readonly workers: readonly Worker[];
  /** True when the rows had changed since they were read: the rest of the plan was left to the next pass. */
  readonly isCutShort: boolean;
}

const WORKER_ID_LENGTH = 14;

/**
 * One pass of the control loop: load, plan, carry out, publish. Level-triggered: each pass starts from the rows as they
 * are, so a pass that was cut off anywhere is simply followed by the next.
 */
export class FleetReconciler {
  readonly #options: FleetReconcilerOptions;
  #memory: FleetMemory;
  #suspects: ReadonlySet<HostId> = new Set();
  /** Hosts that are to be woken as soon as the routers know of their workers. */
  readonly #toWake = new Set<HostId>();

  constructor(options: FleetReconcilerOptions) {
    this.#options = options;
    this.#memory = newFleetMemory(options.clock.nowMs());
  }

  /**
   * An endpoint that fails keeps no other from being looked at.
   *
   * @throws TermOverError; an Error that names the endpoints that failed, once everything else is done
   */
  async run(): Promise<PassOutcome> {
    const { clock, demand, publisher, random, store, term } = this.#options;
    const fleet = await store.load(demand.endpointIds(clock.monotonicMs()));
    const [nowMs, heardMs] = [clock.nowMs(), clock.monotonicMs()];
    const newWorkerId = (): WorkerId => random.id(WORKER_ID_LENGTH) as WorkerId;
    const demandOf = ({ id, spec: { type } }: FleetEndpoint): Demand | null => demand.demandOf({ id, type }, heardMs);
    const plan = planFleet({ fleet, demandOf, memory: this.#memory }, { nowMs, newWorkerId });
    this.#memory = plan.memory;
    this.#tellSuspects(plan.suspects);
    const workers = Map.groupBy(fleet.workers, ({ endpointId }) => endpointId);
    const visits: Visit[] = [];
    const failed = new Set<EndpointId>();
    this.#count(plan.endpoints);
    for (const [endpointId, error] of plan.failed) this.#fail(failed, endpointId, error);
    for (const each of plan.endpoints) {
      const { id } = each.endpoint;
      try {
        visits.push(await this.#visit(each, workers.get(id) ?? [], nowMs));
      } catch (error) {
        if (error instanceof TermOverError) throw error;
        this.#fail(failed, id, error);
      }
    }
    const assignments = { snapshots: visits.map(({ assignment }) => assignment), unknown: failed };
    await publisher.publishAssignments(assignments, () => {
      requireTerm(term);
    });
    publisher.pulse();
    this.#wake();
    if (failed.size > 0) throw new Error(`endpoints that failed: ${[...failed].join(', ')}`);
    return { recheckAtMs: earliest(visits.map(({ recheckAtMs }) => recheckAtMs)) };
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
    const staffed = await this.#carryOut(plan, workers);
    await this.#keep(plan, { before: workers, done: staffed.done }, nowMs);
    await this.#save(plan, nowMs);
    return {
      assignment: this.#describe(plan, staffed.workers, nowMs),
      recheckAtMs: staffed.isCutShort ? nowMs : plan.decision.recheckAtMs,
    };
  }

  async #carryOut({ operations }: StaffingPlan, before: readonly Worker[]): Promise<Staffed> {
    let workers = before;
    const done: FleetOperation[] = [];
    for (const operation of operations) {
      requireTerm(this.#options.term);
      if (!(await this.#perform(operation))) return { done, workers, isCutShort: true };
      done.push(operation);
      workers = withOperation(workers, operation);
      if (operation.kind !== 'note-stay') this.#note(operation, before);
    }
    return { done, workers, isCutShort: false };
  }

  /** False: the row was not as it was read. @throws TermOverError */
  async #perform(operation: FleetOperation): Promise<boolean> {
    const { store, term } = this.#options;
    switch (operation.kind) {
      case 'create-worker':
        if (!(await store.createWorker({ ...operation.worker, ...boundBy(operation) }, term)))
          throw new TermOverError();
        return true;
      case 'drain-worker':
        await store.drainWorker(operation.workerId, operation.leavesAfterIdleMs);
        return true;
      case 'pause-worker':
        await store.pauseWorker(operation.workerId, operation.pausesAfterIdleMs);
        return true;
      case 'resume-worker':
        await store.resumeWorker(operation.workerId);
        return true;
      case 'forget-worker': {
        const { hostLastSeenAtMs, reason, workerId: id } = operation;
        return store.forgetWorker({ id, reason, hostLastSeenAtMs });
      }
      case 'note-stay':
        await store.noteStay(operation.workerId, operation.because);
        return true;
      default:
        return operation satisfies never;
    }
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

const boundBy = ({ storageId }: FleetOperation & { readonly kind: 'create-worker' }): Pick<NewWorker, 'storageId'> =>
  storageId === undefined ? {} : { storageId };

const earliest = (instants: readonly (number | null)[]): number | null => {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known);
};
