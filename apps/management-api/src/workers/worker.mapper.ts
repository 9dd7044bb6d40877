import type { WorkerBody, WorkerListBody, WorkerSummaryBody } from '@berth/contracts/http';
import { NOT_REPORTED, isStale, workerStatus, type Endpoint, type WorkerStatus } from '@berth/domain';
import type { PlacedWorker, ScalingDecision } from './workers.store.js';

/** Workers of an endpoint as a tenant sees them (wire contract 5.2). */
export function toWorkerList(
  endpoint: Endpoint,
  { scaling, workers }: { readonly workers: readonly PlacedWorker[]; readonly scaling: ScalingDecision | null },
  nowMs: number,
): WorkerListBody {
  const bodies = workers.map((worker) => toWorkerBody(worker, endpoint.release, nowMs));
  return {
    workers: bodies,
    summary: summaryOf(bodies),
    endpointVersion: endpoint.release,
    waiting: scaling?.waiting ?? [],
    scaling: scaling === null ? null : toDecision(scaling),
  };
}

function toWorkerBody(worker: PlacedWorker, latestRelease: number, nowMs: number): WorkerBody {
  const { dataCenterId, hostId, id, image, observed, release, resources } = worker;
  const startedAtMs = observed?.startedAtMs ?? null;
  const gpuTypeId = observed?.gpuTypeId ?? resources.gpuTypeId;
  return {
    id,
    status: workerStatus(observed),
    reason: reasonOf(worker),
    ...notesOf(worker),
    isStale: isStale(worker, latestRelease),
    version: release,
    ...(image === null ? {} : { image }),
    gpuCount: resources.gpuCount,
    ...(gpuTypeId === null ? {} : { gpuTypeId }),
    hostId,
    dataCenterId,
    ...(startedAtMs === null ? {} : timesSince(startedAtMs, nowMs)),
  };
}

/** Its host's word, and the control plane's of a worker that fails there again and again. */
const reasonOf = ({ observed, staysBecause }: PlacedWorker): string =>
  [observed === null ? NOT_REPORTED : observed.reason, ...(staysBecause === undefined ? [] : [staysBecause])].join(
    '; ',
  );

const notesOf = ({ observed }: PlacedWorker): Pick<WorkerBody, 'notes'> =>
  observed?.notes === undefined ? {} : { notes: observed.notes };

const timesSince = (startedAtMs: number, nowMs: number): Required<Pick<WorkerBody, 'startedAt' | 'uptimeSeconds'>> => ({
  startedAt: new Date(startedAtMs).toISOString(),
  uptimeSeconds: Math.max(0, Math.floor((nowMs - startedAtMs) / 1000)),
});

function summaryOf(workers: readonly WorkerBody[]): WorkerSummaryBody {
  const count = (status: WorkerStatus): number => workers.filter((worker) => worker.status === status).length;
  return {
    running: count('RUNNING'),
    idle: count('IDLE'),
    initializing: count('INITIALIZING'),
    throttled: count('THROTTLED'),
    unhealthy: count('UNHEALTHY'),
    total: workers.length,
  };
}

const toDecision = ({ decidedAtMs, desired, detail, reason }: ScalingDecision) => ({
  desired,
  reason,
  detail,
  decidedAt: new Date(decidedAtMs).toISOString(),
});
