import { expect, test } from '@jest/globals';
import type { EndpointId, WorkerId } from '@berth/domain';
import type { WorkerFacts, WorkerRegistration } from './bridge.port.js';
import { workerEnvironment } from './worker-environment.js';

const facts: WorkerFacts = {
  gpuTypeId: 'NVIDIA GeForce RTX 4090',
  gpuCount: 1,
  gpuPool: 'ADA_24',
  vcpus: 4,
  memoryBytes: 16.9 * 2 ** 30,
  dataCenterId: 'EU-RO-1',
  volumeId: 'vol1',
  env: {},
};
const worker: WorkerRegistration = {
  workerId: 'w7k2m9x4c1p8' as WorkerId,
  endpointId: 'ep1' as EndpointId,
  endpointType: 'QUEUE',
  token: 'opaque-token-of-this-start',
  facts,
};
const address = { host: 'bridge.internal', port: 9006 };

test('a GPU worker gets every variable of the contract, its id written out, only the job left as $ID', () => {
  expect(workerEnvironment(worker, address)).toEqual({
    RUNPOD_WEBHOOK_GET_JOB: 'http://bridge.internal:9006/v2/ep1/job-take/w7k2m9x4c1p8?gpu=NVIDIA+GeForce+RTX+4090',
    RUNPOD_WEBHOOK_POST_OUTPUT:
      'http://bridge.internal:9006/v2/ep1/job-done/w7k2m9x4c1p8/$ID?gpu=NVIDIA+GeForce+RTX+4090',
    RUNPOD_WEBHOOK_POST_STREAM:
      'http://bridge.internal:9006/v2/ep1/job-stream/w7k2m9x4c1p8/$ID?gpu=NVIDIA+GeForce+RTX+4090',
    RUNPOD_WEBHOOK_PING: 'http://bridge.internal:9006/v2/ep1/ping/w7k2m9x4c1p8?gpu=NVIDIA+GeForce+RTX+4090',
    RUNPOD_PING_INTERVAL: '5000',
    RUNPOD_AI_API_KEY: 'opaque-token-of-this-start',
    RUNPOD_POD_ID: 'w7k2m9x4c1p8',
    RUNPOD_POD_HOSTNAME: 'w7k2m9x4c1p8-m9x4c1p8',
    RUNPOD_ENDPOINT_ID: 'ep1',
    RUNPOD_LOG_LEVEL: 'INFO',
    RUNPOD_DEBUG_LEVEL: 'INFO',
    RUNPOD_SKIP_AUTO_SYSTEM_CHECKS: 'true',
    RUNPOD_INIT_TIMEOUT: '420',
    RUNPOD_DC_ID: 'EU-RO-1',
    RUNPOD_GPU_COUNT: '1',
    RUNPOD_CPU_COUNT: '4',
    RUNPOD_MEM_GB: '16',
    RUNPOD_GPU_NAME: 'NVIDIA+GeForce+RTX+4090',
    RUNPOD_GPU_TYPE_ID: 'NVIDIA GeForce RTX 4090',
    RUNPOD_GPU_SIZE: 'ADA_24',
    RUNPOD_VOLUME_ID: 'vol1',
  });
});

test('a CPU worker has no GPU variables and calls itself cpu', () => {
  const cpu = { ...facts, gpuTypeId: null, gpuPool: null, gpuCount: 0, volumeId: null };
  const environment = workerEnvironment({ ...worker, facts: cpu }, address);
  expect(environment['RUNPOD_WEBHOOK_GET_JOB']).toMatch(/\?gpu=cpu$/);
  expect(Object.keys(environment).filter((name) => /GPU_(NAME|SIZE|TYPE_ID)|VOLUME/.test(name))).toEqual([]);
});

test('the tenant adds variables and chooses log level and checks, but cannot stand in for the worker', () => {
  const env = {
    MODEL: 'llama',
    RUNPOD_LOG_LEVEL: 'DEBUG',
    RUNPOD_SKIP_AUTO_SYSTEM_CHECKS: 'false',
    RUNPOD_WEBHOOK_GET_JOB: 'http://elsewhere/job-take/x?',
    RUNPOD_AI_API_KEY: 'stolen',
    RUNPOD_POD_ID: 'other',
    RUNPOD_PING_INTERVAL: '1',
    RUNPOD_USE_CORE: 'true',
  };
  const environment = workerEnvironment({ ...worker, facts: { ...facts, env } }, address);
  expect(environment).toMatchObject({ MODEL: 'llama', RUNPOD_LOG_LEVEL: 'DEBUG', RUNPOD_PING_INTERVAL: '5000' });
  expect(environment['RUNPOD_SKIP_AUTO_SYSTEM_CHECKS']).toBe('false');
  expect(environment['RUNPOD_WEBHOOK_GET_JOB']).toMatch(/^http:\/\/bridge\.internal/);
  expect(environment['RUNPOD_AI_API_KEY']).toBe(worker.token);
  expect(environment['RUNPOD_POD_ID']).toBe(worker.workerId);
  expect(environment).not.toHaveProperty('RUNPOD_USE_CORE');
});

test('a worker without a GPU or a volume is told of none by its tenant', () => {
  const env = { RUNPOD_GPU_NAME: 'x', RUNPOD_GPU_SIZE: 'x', RUNPOD_VOLUME_ID: 'theirs', BERTH_VOLUME_PATH: '/etc' };
  const bare = { ...facts, gpuTypeId: null, gpuPool: null, gpuCount: 0, volumeId: null, env };
  const environment = workerEnvironment({ ...worker, facts: bare }, address);
  expect(Object.keys(environment).filter((name) => name in env)).toEqual([]);
});

test('a load-balanced worker takes no jobs, so it gets no job calls', () => {
  const balanced = workerEnvironment({ ...worker, endpointType: 'LOAD_BALANCER' }, address);
  expect(Object.keys(balanced).filter((name) => /WEBHOOK|API_KEY|PING/.test(name))).toEqual([]);
  expect(balanced['RUNPOD_POD_ID']).toBe(worker.workerId);
});
