import {
  STABLE_WINDOW_DEFAULT_MS,
  decideMove,
  FAILED_HOSTS_MAX,
  failedHosts,
  placeWorker,
  placementRequestOf,
  planEndpoint,
  type EndpointOperation,
  type Host,
  type HostedWorker,
  type HostId,
  type HostLoad,
  type Unplaced,
  type Worker,
  type WorkerId,
  type WorkerResources,
} from '@berth/domain';
import type { Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { WaitingWorker } from '../persistence/index.js';
import type { FleetEndpoint, FleetStore } from './fleet.store.js';
import { type LeaderTerm, requireTerm, TermOverError } from '../leadership/index.js';
import type { ControllersMetrics } from './metrics.js';

/** One pass over the fleet: what is taken on each host changes as workers are placed. */
export interface PlacementPass {
  readonly term: LeaderTerm;
  readonly hosts: ReadonlyMap<HostId, Host>;
  /** Of the workers that are there; what is gone takes nothing. */
  readonly taken: Map<HostId, WorkerResources[]>;
  readonly observingSinceMs: number;
  readonly nowMs: number;
}

export interface PlacementWish {
  readonly desired: number;
  readonly workers: readonly HostedWorker[];
}

export interface PlacementResult {
  /** Workers as they are after the pass, those that were forgotten left out. */
  readonly workers: readonly Worker[];
  /** Hosts whose desired workers have changed. */
  readonly touched: ReadonlySet<HostId>;
  readonly waiting: readonly WaitingWorker[];
  /** How many could not be placed, and why, with the filter that each host failed at. */
  readonly unplaced: { readonly count: number; readonly why: Unplaced } | null;
  /** True when the rows had changed since they were read: the rest of the plan was left to the next pass. */
  readonly isCutShort: boolean;
}

export interface WorkerPlacementOptions {
  readonly store: Pick<FleetStore, 'createWorker' | 'drainWorker' | 'forgetWorker' | 'noteStay' | 'resumeWorker'>;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: Pick<ControllersMetrics, 'operations'>;
}

const WORKER_ID_LENGTH = 14;

/** Entries of `waiting` that are kept, and hosts in each: enough to say why, whatever the number of workers and hosts. */
const WAITING_MAX = 50;
const WAITING_HOSTS_MAX = 50;

type Outcome =
  | { readonly kind: 'done'; readonly hostId: HostId }
  /** The row was not as it was read. */
  | { readonly kind: 'overtaken' }
  | Unplaced;

interface Performing {
  readonly pass: PlacementPass;
  readonly wanted: PlacementWish;
  readonly workers: Map<WorkerId, Worker>;
}

/** Brings the workers of one endpoint to what is wanted: places new ones, drains, forgets. Safe to run twice. */
export class WorkerPlacement {
  readonly #options: WorkerPlacementOptions;

  constructor(options: WorkerPlacementOptions) {
    this.#options = options;
  }

  /** @throws TermOverError when the leader may write nothing more */
  async apply(endpoint: FleetEndpoint, wanted: PlacementWish, pass: PlacementPass): Promise<PlacementResult> {
    const workers = new Map(wanted.workers.map(({ worker }) => [worker.id, worker]));
    const touched = new Set<HostId>();
    const waiting: Unplaced[] = [];
    let isCutShort = false;
    for (const operation of plan(endpoint, wanted, pass)) {
      const [hopeless] = operation.kind === 'create-worker' ? waiting : [];
      // Workers of one release are alike: what was refused once is refused again in the same pass.
      const outcome = hopeless ?? (await this.#perform(endpoint, operation, { pass, workers, wanted }));
      if (outcome.kind === 'unplaced') waiting.push(outcome);
      if (outcome.kind === 'done') touched.add(outcome.hostId);
      isCutShort = outcome.kind === 'overtaken';
      if (isCutShort) break;
    }
    if (!isCutShort) await this.#moveFailing(endpoint, { pass, workers, touched });
    const [why] = waiting;
    return {
      workers: [...workers.values()],
      touched,
      waiting: describeAllWaiting(endpoint, waiting, pass.nowMs),
      unplaced: why === undefined ? null : { count: waiting.length, why },
      isCutShort,
    };
  }

  async #perform(
    endpoint: FleetEndpoint,
    operation: EndpointOperation,
    { pass, wanted, workers }: Performing,
  ): Promise<Outcome> {
    requireTerm(pass.term);
    switch (operation.kind) {
      case 'create-worker': {
        // Those that are forgotten in this pass still tell where they failed.
        const siblings = wanted.workers
          .map(({ worker }) => worker)
          .filter(({ release }) => release === operation.release);
        const created = await this.#create(endpoint, { release: operation.release, siblings }, pass);
        if ('kind' in created) return created;
        workers.set(created.id, created);
        return this.#done(created, { kind: operation.kind, reason: 'wanted' });
      }
      case 'drain-worker': {
        const worker = known(workers, operation.workerId);
        await this.#options.store.drainWorker(worker.id, operation.leavesAfterIdleMs ?? null);
        workers.set(worker.id, { ...worker, intent: 'drained' });
        return this.#done(worker, operation);
      }
      case 'resume-worker': {
        const worker = known(workers, operation.workerId);
        await this.#options.store.resumeWorker(worker.id);
        workers.set(worker.id, { ...worker, intent: 'running' });
        return this.#done(worker, { kind: operation.kind, reason: 'wanted' });
      }
      case 'forget-worker': {
        const worker = known(workers, operation.workerId);
        const hostLastSeenAtMs = pass.hosts.get(worker.hostId)?.lastSeenAtMs ?? null;
        const gone = { id: worker.id, reason: operation.reason, hostLastSeenAtMs };
        if (!(await this.#options.store.forgetWorker(gone))) return { kind: 'overtaken' };
        workers.delete(worker.id);
        return this.#done(worker, operation);
      }
      default:
        return operation satisfies never;
    }
  }

  /** Where workers of the release have failed again and again comes last. */
  async #create(
    endpoint: FleetEndpoint,
    { release, siblings }: { readonly release: number; readonly siblings: readonly Worker[] },
    pass: PlacementPass,
  ): Promise<Worker | Unplaced> {
    const loads = loadsOf(pass);
    const request = placementRequestOf(endpoint.spec, endpoint.volumeDataCenterIds);
    const failedOn = failedHosts(siblings).slice(0, FAILED_HOSTS_MAX);
    const preferred = loads.filter(({ host }) => !failedOn.includes(host.id));
    const first = placeWorker(request, preferred, pass.nowMs);
    const placed = first.kind === 'placed' || failedOn.length === 0 ? first : placeWorker(request, loads, pass.nowMs);
    if (placed.kind === 'unplaced') return placed;
    const worker: Worker = {
      id: this.#options.random.id(WORKER_ID_LENGTH) as WorkerId,
      endpointId: endpoint.id,
      hostId: placed.hostId,
      release,
      intent: 'running',
      createdAtMs: pass.nowMs,
      resources: placed.resources,
      observed: null,
      ...(failedOn.length === 0 ? {} : { failedOn }),
    };
    if (!(await this.#options.store.createWorker(worker, pass.term))) throw new TermOverError();
    pass.taken.set(placed.hostId, [...(pass.taken.get(placed.hostId) ?? []), placed.resources]);
    return worker;
  }

  /**
   * A worker that fails again and again goes where another host can take it; its successor is placed once it is gone, for
   * the maximum counts it until then. Where none can, it is said why it stays.
   */
  async #moveFailing(
    endpoint: FleetEndpoint,
    { pass, touched, workers }: { pass: PlacementPass; workers: Map<WorkerId, Worker>; touched: Set<HostId> },
  ): Promise<void> {
    const { store } = this.#options;
    const request = placementRequestOf(endpoint.spec, endpoint.volumeDataCenterIds);
    for (const worker of workers.values()) {
      const siblings = [...workers.values()].filter(({ release }) => release === worker.release);
      const decision = decideMove({ worker, siblings, request, hosts: loadsOf(pass) }, pass.nowMs);
      const because = decision.kind === 'stay' ? decision.because : null;
      if (decision.kind !== 'move' && because === (worker.staysBecause ?? null)) continue;
      requireTerm(pass.term);
      if (decision.kind === 'move') {
        await store.drainWorker(worker.id);
        workers.set(worker.id, { ...worker, intent: 'drained' });
        touched.add(worker.hostId);
        this.#done(worker, { kind: 'drain-worker', reason: 'failing-host', detail: decision.because });
      } else {
        await store.noteStay(worker.id, because);
        workers.set(worker.id, withStay(worker, because));
      }
    }
  }

  #done(
    worker: Worker,
    {
      detail,
      kind,
      reason,
    }: { readonly detail?: string; readonly kind: EndpointOperation['kind']; readonly reason: string },
  ): Outcome {
    const { endpointId, hostId, id } = worker;
    this.#options.metrics.operations.inc({ kind, reason });
    this.#options.logger.info(`${kind}: ${reason}`, {
      endpointId,
      hostId,
      workerId: id,
      ...(detail ? { detail } : {}),
    });
    return { kind: 'done', hostId };
  }
}

const plan = (endpoint: FleetEndpoint, { desired, workers }: PlacementWish, pass: PlacementPass) =>
  planEndpoint(
    {
      isDeleted: endpoint.deletedAtMs !== null,
      release: endpoint.release,
      desiredWorkers: desired,
      workersMax: endpoint.spec.workers.max,
      workers,
      observingSinceMs: pass.observingSinceMs,
      idleTimeoutMs: idleTimeoutMs(endpoint),
    },
    pass.nowMs,
  );

const idleTimeoutMs = ({ spec }: FleetEndpoint): number =>
  spec.workers.idleTimeoutSeconds === null ? STABLE_WINDOW_DEFAULT_MS : spec.workers.idleTimeoutSeconds * 1000;

const loadsOf = ({ hosts, taken }: PlacementPass): readonly HostLoad[] =>
  [...hosts.values()].map((host) => ({ host, taken: taken.get(host.id) ?? [] }));

function withStay({ staysBecause: _, ...worker }: Worker, because: string | null): Worker {
  return because === null ? worker : { ...worker, staysBecause: because };
}

function known(workers: ReadonlyMap<WorkerId, Worker>, id: WorkerId): Worker {
  const worker = workers.get(id);
  if (worker === undefined) throw new Error(`the plan names worker ${id}, which it was not given`);
  return worker;
}

function describeAllWaiting(
  { lastDecision }: FleetEndpoint,
  waiting: readonly Unplaced[],
  nowMs: number,
): readonly WaitingWorker[] {
  const before = lastDecision?.waiting ?? [];
  return waiting.slice(0, WAITING_MAX).map((unplaced) => describeWaiting(unplaced, before, nowMs));
}

/** The same reason keeps its first instant, so that a person sees how long it has lasted. */
function describeWaiting(unplaced: Unplaced, before: readonly WaitingWorker[], nowMs: number): WaitingWorker {
  const same = before.find(({ reason }) => reason === unplaced.reason);
  return {
    reason: unplaced.reason,
    detail: unplaced.detail,
    since: same?.since ?? new Date(nowMs).toISOString(),
    hosts: unplaced.hosts.slice(0, WAITING_HOSTS_MAX).map(({ id, detail }) => ({ id, reason: detail })),
  };
}
