import type { DesiredWorker } from '@berth/contracts';
import {
  STOP_GRACE_DEFAULT_MS,
  SHIPPED_CATALOG,
  HEALTH_START_MAX_MS,
  splitArgs,
  type WantedWorker,
  type WorkerIdentity,
} from '@berth/domain';
import type { WorkerFacts } from '../bridge/index.js';
import { listeningBy, portsOf, type WorkerListening } from '../load-balanced/index.js';
import { RuntimeError } from '../runtimes/index.js';

/** Cold start of the hosted original; workers raise it by `RUNPOD_INIT_TIMEOUT` (wire contract 1.16), in seconds. */
const INIT_TIMEOUT_DEFAULT_MS = 420_000;
const INIT_TIMEOUT_VARIABLE = 'RUNPOD_INIT_TIMEOUT';
const MS_PER_SECOND = 1_000;
/** A worker that leaves does not stay for a request, such as a WebSocket, for longer than this. */
const REQUEST_GRACE_MAX_MS = 10 * 60_000;
const NULL_BYTE = '\0';

interface KnownOfWorker {
  readonly generation: number;
  readonly listens: WorkerListening | null;
  readonly healthPort: number | null;
}

/**
 * What the plan needs to know of what the control plane wants.
 *
 * @param generation the present one, which a worker keeps that could not be started anew
 * @param known `listens`: null where that is not known, and of a queue's worker; `healthPort`: where its checks are answered
 */
export const toDesired = (
  assigned: DesiredWorker,
  { generation, healthPort, listens }: KnownOfWorker,
): WantedWorker => ({
  intent: assigned.intent,
  endpointType: assigned.endpointType,
  generation: assigned.unopenable === undefined ? assigned.restarts : generation,
  initTimeoutMs: initTimeoutMs(assigned),
  requestGraceMs: Math.min(assigned.executionTimeoutMs, REQUEST_GRACE_MAX_MS),
  stopGraceMs: STOP_GRACE_DEFAULT_MS,
  ...(listens === null ? {} : { ports: portsOf(listens, healthPort) }),
  ...(assigned.leavesAfterIdleMs === undefined ? {} : { leavesAfterIdleMs: assigned.leavesAfterIdleMs }),
  ...(assigned.imageDigest === undefined ? {} : { imageDigest: assigned.imageDigest }),
  ...(assigned.pausesAfterIdleMs === undefined ? {} : { pausesAfterIdleMs: assigned.pausesAfterIdleMs }),
  ...(assigned.unopenable === undefined ? {} : { unstartable: assigned.unopenable }),
});

/** Of one that goes with its agent, and whatever it has is given the usual time. */
export const toDrained = (assigned: DesiredWorker | null, generation: number): WantedWorker => ({
  ...{ intent: 'drained', endpointType: assigned?.endpointType ?? 'QUEUE', generation, initTimeoutMs: 0 },
  ...{ requestGraceMs: STOP_GRACE_DEFAULT_MS, stopGraceMs: STOP_GRACE_DEFAULT_MS },
});

/** Null where its variables are not known, and of a queue's worker. */
export const listeningOf = ({ container, endpointType, unopenable }: DesiredWorker): WorkerListening | null =>
  endpointType === 'LOAD_BALANCER' && unopenable === undefined ? listeningBy(container.env) : null;

/** Of one that could not be opened it is not known how long it may take. */
function initTimeoutMs({ endpointType, container, unopenable }: DesiredWorker): number {
  if (unopenable !== undefined) return Number.MAX_SAFE_INTEGER;
  if (endpointType === 'LOAD_BALANCER') return HEALTH_START_MAX_MS;
  const text = container.env[INIT_TIMEOUT_VARIABLE] ?? '';
  return /^[1-9]\d{0,5}$/.test(text) ? Number(text) * MS_PER_SECOND : INIT_TIMEOUT_DEFAULT_MS;
}

/** One that shall be paused shall run instead; any other as it is. */
export function asResumed(assigned: DesiredWorker): DesiredWorker {
  if (assigned.intent !== 'paused') return assigned;
  const { pausesAfterIdleMs: _, ...rest } = assigned;
  return { ...rest, intent: 'running' };
}

export const identityOf = ({ workerId, endpointId, release, resources }: DesiredWorker): WorkerIdentity => ({
  workerId,
  endpointId,
  release,
  gpuTypeId: resources.gpuTypeId,
});

/** @throws RuntimeError when they are no words that a process could be given */
export function readArgs(text: string): readonly string[] {
  const args = splitArgs(text);
  const why = args.kind === 'malformed' ? args.detail : 'they hold a null byte';
  if (args.kind === 'malformed' || text.includes(NULL_BYTE)) {
    throw new RuntimeError('start-failed', `The arguments cannot be read: ${why}.`);
  }
  return args.words;
}

/**
 * Runtimes quote what they cannot set, and a variable's value must stand in no log and in no reason.
 *
 * @throws RuntimeError when a process cannot have such a variable, naming it
 */
export function checkVariables(env: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(env)) {
    if (/^[^=\0]+$/.test(name) && !value.includes(NULL_BYTE)) continue;
    throw new RuntimeError(
      'start-failed',
      `The variable ${JSON.stringify(name)} cannot be set: no name may be empty or hold "=", and nothing a null byte.`,
    );
  }
}

/** Older control planes do not say how many requests a worker takes: one is never too many. */
export const slotsOfWorker = ({ slots = 1 }: DesiredWorker): number => slots;

/** @param ports variables that it gets whatever its endpoint says */
export function factsOf(
  assigned: DesiredWorker,
  dataCenterId: string,
  ports: Readonly<Record<string, string>>,
): WorkerFacts {
  const { container, resources, volume } = assigned;
  const { gpuCount, vcpus, memoryBytes } = resources;
  const type = gpuTypeOf(assigned);
  return {
    gpuTypeId: type?.id ?? null,
    gpuCount,
    gpuPool: type?.pool ?? null,
    vcpus,
    memoryBytes,
    dataCenterId,
    volumeId: volume?.id ?? null,
    env: { ...container.env, ...ports },
  };
}

/** Older control planes do not say what their catalog has of a card: it is the one that is shipped. */
function gpuTypeOf({ gpuType, resources: { gpuTypeId } }: DesiredWorker): DesiredWorker['gpuType'] | null {
  if (gpuTypeId === null || gpuType !== undefined) return gpuType ?? null;
  return { id: gpuTypeId, pool: SHIPPED_CATALOG.gpuType(gpuTypeId)?.pool ?? null };
}
