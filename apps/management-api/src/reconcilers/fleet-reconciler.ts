import { isDeepStrictEqual } from 'node:util';
import type { AssignmentSnapshot } from '@berth/contracts';
import {
  describeOutlook,
  goneReason,
  type EndpointId,
  type HostedWorker,
  type HostId,
  type ScaleDecision,
  type Worker,
  type WorkerResources,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { Fleet, FleetEndpoint, FleetStore, ScalingRecord } from './fleet.store.js';
import { type LeaderTerm, requireTerm, TermOverError } from '../leadership/index.js';
import type { DemandBoard } from './demand-board.js';
import type { EndpointScaling } from './endpoint-scaling.js';
import type { FleetOutlet } from './fleet-outlet.port.js';
import { HearingWatch } from './hearing-watch.js';
import type { ControllersMetrics } from './metrics.js';
import type { PlacementPass, PlacementResult, WorkerPlacement } from './worker-placement.js';

export interface FleetReconcilerOptions {
  readonly store: Pick<FleetStore, 'load' | 'saveScaling' | 'forgetEndpoint'>;
  readonly demand: DemandBoard;
  readonly scaling: EndpointScaling;
  readonly placement: WorkerPlacement;
  readonly outlet: FleetOutlet;
  readonly clock: Clock;
  /** Asked before every write: a leader whose term is over writes nothing more. */
  readonly term: LeaderTerm;
  readonly logger: Logger;
  readonly metrics: Pick<ControllersMetrics, 'decisions'>;
}

export interface PassOutcome {
  /** Unix ms at which the passing of time alone may change a decision; null if never. */
  readonly recheckAtMs: number | null;
}

interface Visit {
  readonly assignment: AssignmentSnapshot;
  readonly recheckAtMs: number | null;
}

/** Routers need the deleted endpoint's word until they have emptied its streams. */
export const DELETED_KEPT_MS = 600_000;

/**
 * One pass of the control loop: load, decide how many, decide where, publish. Level-triggered: each pass starts from
 * the rows as they are, so a pass that was cut off anywhere is simply followed by the next.
 */
export class FleetReconciler {
  readonly #options: FleetReconcilerOptions;
  readonly #hearing: HearingWatch;
  /** Hosts that are to be woken as soon as the routers know of their workers. */
  readonly #toWake = new Set<HostId>();

  constructor(options: FleetReconcilerOptions) {
    this.#options = options;
    this.#hearing = new HearingWatch(options.clock.nowMs());
  }

  /**
   * An endpoint that fails keeps no other from being looked at.
   *
   * @throws TermOverError; an Error that names the endpoints that failed, once everything else is done
   */
  async run(): Promise<PassOutcome> {
    const { clock, demand, logger, outlet, scaling, store, term } = this.#options;
    const fleet = await store.load(demand.endpointIds(clock.monotonicMs()));
    const workers = hostedByEndpoint(fleet);
    const pass = this.#begin(fleet, workers);
    const visits: Visit[] = [];
    const failed = new Set<EndpointId>();
    for (const endpoint of inTurn(fleet.endpoints)) {
      try {
        visits.push(await this.#visit(endpoint, workers.get(endpoint.id) ?? [], pass));
      } catch (error) {
        if (error instanceof TermOverError) throw error;
        logger.warn('the workers of an endpoint could not be seen to', { endpointId: endpoint.id, error });
        failed.add(endpoint.id);
      }
    }
    scaling.forgetOthers(new Set(fleet.endpoints.map(({ id }) => id)));
    const assignments = { snapshots: visits.map(({ assignment }) => assignment), unknown: failed };
    await outlet.publishAssignments(assignments, () => {
      requireTerm(term);
    });
    outlet.pulse();
    this.#wake();
    if (failed.size > 0) throw new Error(`endpoints that failed: ${[...failed].join(', ')}`);
    return { recheckAtMs: earliest(visits.map(({ recheckAtMs }) => recheckAtMs)) };
  }

  #begin(fleet: Fleet, workers: ReadonlyMap<EndpointId, readonly HostedWorker[]>): PlacementPass {
    const { clock, term } = this.#options;
    const nowMs = clock.nowMs();
    const observingSinceMs = this.#hearing.observe(fleet.hosts.values(), nowMs);
    const present = [...workers.values()]
      .flat()
      .filter((hosted) => goneReason(hosted, observingSinceMs, nowMs) === null);
    return { term, hosts: fleet.hosts, taken: takenByHost(present), observingSinceMs, nowMs };
  }

  async #visit(endpoint: FleetEndpoint, workers: readonly HostedWorker[], pass: PlacementPass): Promise<Visit> {
    const { clock, demand, placement, scaling, store, term } = this.#options;
    requireTerm(term);
    if (isForgettable(endpoint, workers, pass.nowMs)) {
      await store.forgetEndpoint(endpoint.id);
      return { assignment: { endpointId: endpoint.id, workers: [] }, recheckAtMs: null };
    }
    const { observingSinceMs, nowMs } = pass;
    const known = demand.demandOf(endpoint.id, clock.monotonicMs());
    const decision = scaling.decide({ endpoint, demand: known, workers, observingSinceMs }, nowMs);
    const result = await placement.apply(endpoint, { desired: decision.desiredWorkers, workers }, pass);
    for (const hostId of result.touched) this.#toWake.add(hostId);
    await this.#save(endpoint, decision, { waiting: result.waiting, decidedAtMs: nowMs });
    return {
      assignment: this.#describe(endpoint, { decision, result }, nowMs),
      recheckAtMs: result.isCutShort ? nowMs : decision.recheckAtMs,
    };
  }

  #describe(
    { deletedAtMs, id: endpointId }: FleetEndpoint,
    { decision, result }: { readonly decision: ScaleDecision; readonly result: PlacementResult },
    nowMs: number,
  ): AssignmentSnapshot {
    const { unplaced, waiting, workers } = result;
    const [first] = waiting;
    const sinceMs = first === undefined ? nowMs : Date.parse(first.since);
    const outlook = describeOutlook(
      {
        desired: deletedAtMs === null ? decision.desiredWorkers : 0,
        scalingReason: decision.reason,
        workers,
        unplaced: unplaced === null ? null : { ...unplaced, sinceMs },
        previous: this.#options.outlet.assignmentOf(endpointId)?.outlook ?? null,
      },
      nowMs,
    );
    return { endpointId, workers: workers.map(assignedWorker), outlook };
  }

  /** A decision that says the same as the last one is not written again. */
  async #save(
    { id, lastDecision }: FleetEndpoint,
    { desiredWorkers, detail, reason }: ScaleDecision,
    rest: Pick<ScalingRecord, 'waiting' | 'decidedAtMs'>,
  ): Promise<void> {
    const { logger, metrics, store, term } = this.#options;
    const record: ScalingRecord = { endpointId: id, desired: desiredWorkers, reason, detail, ...rest };
    if (isDeepStrictEqual({ ...record, decidedAtMs: lastDecision?.decidedAtMs }, lastDecision)) return;
    requireTerm(term);
    await store.saveScaling(record);
    const before = lastDecision?.desired ?? 0;
    if (before === desiredWorkers) return;
    metrics.decisions.inc({ reason });
    logger.info(`desired workers ${before} → ${desiredWorkers}: ${reason}, ${detail}`, { endpointId: id });
  }

  /** After the routers know: an agent that is told first would ask for jobs and hear that it has no such worker. */
  #wake(): void {
    for (const hostId of this.#toWake) {
      this.#options.outlet.wake(hostId);
      this.#toWake.delete(hostId);
    }
  }
}

const isForgettable = ({ deletedAtMs }: FleetEndpoint, workers: readonly HostedWorker[], nowMs: number): boolean =>
  deletedAtMs !== null && nowMs - deletedAtMs > DELETED_KEPT_MS && workers.length === 0;

function hostedByEndpoint({ hosts, workers }: Fleet): ReadonlyMap<EndpointId, readonly HostedWorker[]> {
  const hosted = workers.map((worker) => ({ worker, host: hosts.get(worker.hostId) ?? null }));
  return Map.groupBy(hosted, ({ worker }) => worker.endpointId);
}

function takenByHost(workers: readonly HostedWorker[]): Map<HostId, WorkerResources[]> {
  const byHost = Map.groupBy(workers, ({ worker }) => worker.hostId);
  return new Map([...byHost].map(([hostId, hosted]) => [hostId, hosted.map(({ worker }) => worker.resources)]));
}

/** Who has waited longest for a place comes first; the others in the order in which they were made. */
const inTurn = (endpoints: readonly FleetEndpoint[]): readonly FleetEndpoint[] =>
  endpoints.toSorted((a, b) => waitingSinceMs(a) - waitingSinceMs(b) || a.createdAtMs - b.createdAtMs);

const waitingSinceMs = ({ lastDecision }: FleetEndpoint): number =>
  Math.min(Number.MAX_SAFE_INTEGER, ...(lastDecision?.waiting ?? []).map(({ since }) => Date.parse(since)));

const assignedWorker = ({ hostId, id, intent, observed }: Worker): AssignmentSnapshot['workers'][number] => ({
  id,
  hostId,
  phase: observed?.phase ?? 'preparing',
  isDraining: intent === 'drained',
});

const earliest = (instants: readonly (number | null)[]): number | null => {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : Math.min(...known);
};
