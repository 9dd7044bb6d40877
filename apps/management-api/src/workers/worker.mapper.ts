import type { WorkerBody, WorkerListBody, WorkerSummaryBody } from '@berth/contracts/http';
import {
  NOT_REPORTED,
  countStatuses,
  isStale,
  rolloutOf,
  throttledCount,
  workerStatus,
  type Endpoint,
  type HardwareCatalog,
  type StatusCounts,
} from '@berth/domain';
import type { PlacedWorker, ScalingDecision } from './workers.store.js';

interface Telling {
  readonly catalog: HardwareCatalog;
  readonly nowMs: number;
}

/** Workers of an endpoint as a tenant sees them (wire contract 5.2): `summary` counts the list, which has all that are told. */
export function toWorkerList(
  endpoint: Endpoint,
  { scaling, workers }: { readonly workers: readonly PlacedWorker[]; readonly scaling: ScalingDecision | null },
  { catalog, nowMs }: Telling,
): WorkerListBody {
  const unplaced = { count: scaling?.unplaced ?? 0 };
  const listed = [
    ...workers.map((worker) => toWorkerBody(worker, endpoint.release, { catalog, nowMs })),
    ...throttledBodies(endpoint, unplaced, scaling?.waiting ?? []),
  ];
  const summary = summaryOf(
    countStatuses(
      workers.map(({ observed }) => observed),
      unplaced,
    ),
  );
  return {
    workers: listed,
    summary: { ...summary, total: listed.length },
    endpointVersion: endpoint.release,
    rollout: rolloutOf(workers, endpoint.release, scaling?.starts ?? null),
    waiting: scaling?.waiting ?? [],
    scaling: scaling === null ? null : toDecision(scaling),
  };
}

/** Wanted, and without a host: what is known of such a worker is what it is to be, and why it is not yet. */
function throttledBodies(
  { release, spec }: Endpoint,
  unplaced: { readonly count: number },
  waiting: ScalingDecision['waiting'],
): readonly WorkerBody[] {
  return Array.from({ length: throttledCount(unplaced) }, (_, index) => ({
    id: `throttled-${index + 1}`,
    status: 'THROTTLED',
    reason: (waiting[index] ?? waiting.at(-1))?.detail ?? '',
    ...{ isStale: false, version: release, image: spec.container.image, restarts: 0 },
    gpuCount: spec.gpu?.count ?? 0,
  }));
}

export function toWorkerBody(worker: PlacedWorker, latestRelease: number, { catalog, nowMs }: Telling): WorkerBody {
  const { dataCenterId, hostId, id, image, observed, release, resources, restarts = 0 } = worker;
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
    ...(gpuTypeId === null ? {} : { gpuTypeId: catalog.gpuTypeIdOfCard(gpuTypeId) }),
    ...{ restarts, hostId, dataCenterId },
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

const summaryOf = (counts: StatusCounts): Omit<WorkerSummaryBody, 'total'> => ({
  running: counts.RUNNING,
  idle: counts.IDLE,
  initializing: counts.INITIALIZING,
  throttled: counts.THROTTLED,
  unhealthy: counts.UNHEALTHY,
});

const toDecision = ({ decidedAtMs, desired, detail, reason }: ScalingDecision) => ({
  desired,
  reason,
  detail,
  decidedAt: new Date(decidedAtMs).toISOString(),
});
