import { describe, expect, test } from '@jest/globals';
import type { CpuRequest, GpuRequest } from '../hardware-request/index.js';
import { resolveWorkerRange } from './defaults.js';
import { describeFailures } from './field-failure.js';
import { checkEndpointRules, type EndpointDraft } from './validate-endpoint.js';

const gpu = (fields: Partial<GpuRequest> = {}): GpuRequest => ({
  pools: ['ADA_24'],
  excludedTypes: [],
  count: 1,
  allowedCudaVersions: [],
  minCudaVersion: null,
  ...fields,
});

const draft = (fields: Partial<EndpointDraft> = {}): EndpointDraft => ({
  type: 'QUEUE',
  gpu: gpu(),
  cpu: null,
  scaling: { type: 'QUEUE_DELAY', queueDelaySeconds: 4 },
  workers: { min: 0, max: 3, idleTimeoutSeconds: 10 },
  ...fields,
});

const REQUEST_COUNT = { type: 'REQUEST_COUNT', requestCount: 4 } as const;
const CPU: readonly CpuRequest[] = [{ flavorId: 'cpu3c', vcpuCount: 2 }];

describe('the rules between fields', () => {
  test.each<[string, Partial<EndpointDraft>]>([
    ['a GPU queue on queue delay', {}],
    ['a CPU queue', { gpu: null, cpu: CPU }],
    ['a load balancer on request count with an idle timeout', { type: 'LOAD_BALANCER', scaling: REQUEST_COUNT }],
    [
      'a queue on request count without an idle timeout',
      { scaling: REQUEST_COUNT, workers: { min: 0, max: 3, idleTimeoutSeconds: null } },
    ],
    ['an empty list of CUDA versions beside a floor', { gpu: gpu({ minCudaVersion: '12.2' }) }],
    ['equal minimum and maximum', { workers: { min: 3, max: 3, idleTimeoutSeconds: 10 } }],
  ])('let pass: %s', (_, fields) => {
    expect(checkEndpointRules(draft(fields))).toEqual([]);
  });

  test.each<[string, Partial<EndpointDraft>, string]>([
    ['both kinds of compute', { cpu: CPU }, "$: send either 'gpu' or 'cpu', not both"],
    ['no compute', { gpu: null }, "$: send one of 'gpu' and 'cpu'"],
    [
      'CUDA versions and a floor',
      { gpu: gpu({ allowedCudaVersions: ['12.4'], minCudaVersion: '12.2' }) },
      "$.gpu: send either a non-empty 'allowedCudaVersions' or 'minCudaVersion', not both",
    ],
    [
      'a load balancer on queue delay',
      { type: 'LOAD_BALANCER' },
      "$.scaling.type: a 'LOAD_BALANCER' endpoint scales on 'REQUEST_COUNT' only",
    ],
    [
      'an idle timeout on a queue with request count',
      { scaling: REQUEST_COUNT },
      "$.workers.idleTimeout: does not apply to a 'QUEUE' endpoint that scales on 'REQUEST_COUNT'; omit it",
    ],
    [
      'a minimum above the maximum',
      { workers: { min: 4, max: 3, idleTimeoutSeconds: 10 } },
      "$.workers.min: must not be above 'max', which is 3, but is 4",
    ],
  ])('refuse: %s', (_, fields, expected) => {
    expect(describeFailures(checkEndpointRules(draft(fields)))).toEqual([expected]);
  });

  test('all failures are told in one answer', () => {
    const failures = checkEndpointRules(
      draft({ cpu: CPU, type: 'LOAD_BALANCER', workers: { min: 2, max: 1, idleTimeoutSeconds: 10 } }),
    );
    expect(failures.map(({ path }) => path)).toEqual(['$', '$.scaling.type', '$.workers.min']);
  });
});

describe('the worker range', () => {
  const queueDelay = { type: 'QUEUE', scaling: { type: 'QUEUE_DELAY', queueDelaySeconds: 4 } } as const;

  test('has defaults', () => {
    expect(resolveWorkerRange(queueDelay, {})).toEqual({ min: 0, max: 3, idleTimeoutSeconds: 10 });
  });

  test('keeps what was said', () => {
    const said = { min: 1, max: 0, idleTimeoutSeconds: 60 };
    expect(resolveWorkerRange(queueDelay, said)).toEqual(said);
  });

  test('loses its idle timeout with a queue on request count, and gets it back without', () => {
    const routing = { type: 'QUEUE', scaling: REQUEST_COUNT } as const;
    const stored = resolveWorkerRange(routing, { idleTimeoutSeconds: 60 });
    expect(stored.idleTimeoutSeconds).toBeNull();
    expect(resolveWorkerRange(queueDelay, stored).idleTimeoutSeconds).toBe(10);
    expect(resolveWorkerRange({ ...routing, type: 'LOAD_BALANCER' }, stored).idleTimeoutSeconds).toBe(10);
  });
});
