import type { DesiredWorker as AssignedWorker } from '@berth/contracts';
import { STOP_GRACE_DEFAULT_MS, gpuTypeById, type DesiredWorker, type WorkerIdentity } from '@berth/domain';
import type { WorkerFacts } from '../bridge/bridge.port.js';

/** Cold start of the hosted original; workers raise it by `RUNPOD_INIT_TIMEOUT` (wire contract 1.16), in seconds. */
const INIT_TIMEOUT_DEFAULT_MS = 420_000;
const INIT_TIMEOUT_VARIABLE = 'RUNPOD_INIT_TIMEOUT';
const MS_PER_SECOND = 1_000;

/** What the plan needs to know of what the control plane wants. */
export const toDesired = (assigned: AssignedWorker): DesiredWorker => ({
  intent: assigned.intent,
  endpointType: assigned.endpointType,
  generation: assigned.restarts,
  initTimeoutMs: initTimeoutMs(assigned),
  stopGraceMs: STOP_GRACE_DEFAULT_MS,
});

/** A load-balanced worker never asks for a job, so the bridge cannot tell when it is ready: its health checks do. */
function initTimeoutMs({ endpointType, container }: AssignedWorker): number {
  if (endpointType === 'LOAD_BALANCER') return Number.MAX_SAFE_INTEGER;
  const text = container.env[INIT_TIMEOUT_VARIABLE] ?? '';
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) * MS_PER_SECOND : INIT_TIMEOUT_DEFAULT_MS;
}

export const identityOf = ({ workerId, endpointId, release, resources }: AssignedWorker): WorkerIdentity => ({
  workerId,
  endpointId,
  release,
  gpuTypeId: resources.gpuTypeId,
});

export function factsOf({ resources, container }: AssignedWorker, dataCenterId: string): WorkerFacts {
  const { gpuTypeId, gpuCount, vcpus, memoryBytes } = resources;
  return {
    gpuTypeId,
    gpuCount,
    gpuPool: gpuTypeId === null ? null : (gpuTypeById(gpuTypeId)?.pool ?? null),
    vcpus,
    memoryBytes,
    dataCenterId,
    volumeId: null,
    env: container.env,
  };
}
