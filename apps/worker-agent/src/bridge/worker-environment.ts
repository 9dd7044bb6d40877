import type { WorkerRegistration } from './bridge.port.js';

/** Where workers reach the bridge: the host's name as it is seen from inside a container. */
export interface BridgeAddress {
  readonly host: string;
  readonly port: number;
}

const GIBIBYTE = 2 ** 30;
/**
 * Half of the time after which a job that does not stop costs its worker: one of several jobs that has let go is only
 * known by a ping. Below 1000 the SDK pings without pause.
 */
const PING_INTERVAL_MS = 5_000;

/** What a tenant may set otherwise. */
const DEFAULTS: Readonly<Record<string, string>> = {
  RUNPOD_LOG_LEVEL: 'INFO',
  RUNPOD_DEBUG_LEVEL: 'INFO',
  RUNPOD_INIT_TIMEOUT: '420',
  // The SDK's own checks want 4 GB of free memory and a way to 8.8.8.8, and kill the worker without them.
  RUNPOD_SKIP_AUTO_SYSTEM_CHECKS: 'true',
};

/** The retired compiled core speaks a protocol that nobody has written down. */
const NEVER_SET = ['RUNPOD_SLS_CORE', 'RUNPOD_USE_CORE', 'RUNPOD_SLS_CORE_PATH'];

/** What is ours to say also where we say nothing: a worker without a GPU or a volume must not be told of one. */
const OURS_ALONE = [
  'RUNPOD_GPU_NAME',
  'RUNPOD_GPU_TYPE_ID',
  'RUNPOD_GPU_SIZE',
  'RUNPOD_VOLUME_ID',
  'BERTH_VOLUME_PATH',
];

/**
 * The whole environment of a worker (wire contract 1.15): defaults, then the tenant's variables, then what makes the
 * worker ours. The worker id is written out, so that no shell can swallow a `$`; only the job's `$ID` is left to the SDK.
 */
export function workerEnvironment(
  registration: WorkerRegistration,
  address: BridgeAddress,
): Readonly<Record<string, string>> {
  const environment: Record<string, string> = {
    ...DEFAULTS,
    ...tenantVariables(registration.facts.env),
    ...identity(registration),
    ...(registration.endpointType === 'QUEUE' ? jobCalls(registration, address) : {}),
  };
  for (const name of NEVER_SET) delete environment[name];
  if (registration.endpointType === 'LOAD_BALANCER') {
    for (const name of JOB_CALL_NAMES) delete environment[name];
  }
  return environment;
}

const tenantVariables = (env: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !OURS_ALONE.includes(name)));

function identity({ workerId, endpointId, facts }: WorkerRegistration): Record<string, string> {
  const { gpuTypeId, gpuPool, volumeId } = facts;
  return {
    RUNPOD_POD_ID: workerId,
    RUNPOD_POD_HOSTNAME: `${workerId}-${workerId.slice(-8)}`,
    RUNPOD_ENDPOINT_ID: endpointId,
    RUNPOD_DC_ID: facts.dataCenterId,
    RUNPOD_GPU_COUNT: String(facts.gpuCount),
    RUNPOD_CPU_COUNT: String(facts.vcpus),
    RUNPOD_MEM_GB: String(Math.floor(facts.memoryBytes / GIBIBYTE)),
    ...(gpuTypeId === null ? {} : { RUNPOD_GPU_NAME: urlLabel(gpuTypeId), RUNPOD_GPU_TYPE_ID: gpuTypeId }),
    ...(gpuPool === null ? {} : { RUNPOD_GPU_SIZE: gpuPool }),
    ...(volumeId === null ? {} : { RUNPOD_VOLUME_ID: volumeId }),
  };
}

function jobCalls({ workerId, endpointId, token, facts }: WorkerRegistration, address: BridgeAddress) {
  const base = `http://${address.host}:${address.port}/v2/${endpointId}`;
  // The SDK appends `&…` to three of these, so each must hold a `?` already.
  const query = `?gpu=${facts.gpuTypeId === null ? 'cpu' : urlLabel(facts.gpuTypeId)}`;
  return {
    RUNPOD_WEBHOOK_GET_JOB: `${base}/job-take/${workerId}${query}`,
    RUNPOD_WEBHOOK_POST_OUTPUT: `${base}/job-done/${workerId}/$ID${query}`,
    RUNPOD_WEBHOOK_POST_STREAM: `${base}/job-stream/${workerId}/$ID${query}`,
    RUNPOD_WEBHOOK_PING: `${base}/ping/${workerId}${query}`,
    RUNPOD_PING_INTERVAL: String(PING_INTERVAL_MS),
    RUNPOD_AI_API_KEY: token,
  } satisfies Record<string, string>;
}

const JOB_CALL_NAMES = [
  'RUNPOD_WEBHOOK_GET_JOB',
  'RUNPOD_WEBHOOK_POST_OUTPUT',
  'RUNPOD_WEBHOOK_POST_STREAM',
  'RUNPOD_WEBHOOK_PING',
  'RUNPOD_AI_API_KEY',
];

const urlLabel = (gpuTypeId: string): string => encodeURIComponent(gpuTypeId).replaceAll('%20', '+');
