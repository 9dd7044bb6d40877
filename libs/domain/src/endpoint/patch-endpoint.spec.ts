import { describe, expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { EndpointSpec } from './endpoint.js';
import { describeFailures } from './field-failure.js';
import { patchEndpoint, type EndpointPatch } from './patch-endpoint.js';

const GPU_SPEC: EndpointSpec = {
  name: 'echo',
  type: 'QUEUE',
  container: {
    image: 'local/echo',
    args: '--a',
    diskGb: 20,
    env: { MODEL: 'a', API_KEY: 'one' },
    ports: ['80/http'],
    registryId: 'r',
  },
  scaling: { type: 'QUEUE_DELAY', queueDelaySeconds: 4 },
  workers: { min: 0, max: 3, idleTimeoutSeconds: 60 },
  gpu: {
    pools: ['ADA_24', 'AMPERE_24'],
    excludedTypes: ['NVIDIA L4'],
    count: 1,
    allowedCudaVersions: [],
    minCudaVersion: '12.1',
  },
  cpu: null,
  dataCenterIds: [],
  networkVolumeIds: [],
  flashboot: 'OFF',
  executionTimeoutMs: 300_000,
};

const CPU_SPEC: EndpointSpec = { ...GPU_SPEC, gpu: null, cpu: [{ flavorId: 'cpu3c', vcpuCount: 2 }] };

/** `field: old → new` of a change, `!` before those that make the release; or the reasons of a refusal. */
function outcome(spec: EndpointSpec, patch: EndpointPatch): readonly string[] {
  const patched = patchEndpoint(spec, patch, SHIPPED_CATALOG);
  if (patched.kind === 'refused') return describeFailures(patched.failures);
  return patched.diff.map((change) => {
    const mark = patched.releaseDiff.includes(change) ? '!' : '';
    return `${mark}${change.field}: ${JSON.stringify(change.old)} → ${JSON.stringify(change.new)}`;
  });
}

const BALANCED: EndpointSpec = {
  ...GPU_SPEC,
  type: 'LOAD_BALANCER',
  scaling: { type: 'REQUEST_COUNT', requestCount: 2 },
};

test('what needs no key is changed member by member, and makes no release', () => {
  const preflights = patchEndpoint(BALANCED, { loadBalancer: { allowsPreflights: true } }, SHIPPED_CATALOG);
  expect(preflights).toMatchObject({
    kind: 'patched',
    spec: { loadBalancer: { isPublic: false, allowsPreflights: true } },
    releaseDiff: [],
  });
  const open = { ...BALANCED, loadBalancer: { isPublic: false, allowsPreflights: true } };
  expect(outcome(open, { loadBalancer: { isPublic: true } })).toEqual(['loadBalancer.isPublic: false → true']);
  expect(outcome(open, { loadBalancer: { allowsPreflights: true } })).toEqual([]);
});

const REQUEST_COUNT = { type: 'REQUEST_COUNT', requestCount: 2 } as const;

describe('a patch', () => {
  test.each<[string, EndpointPatch, string[]]>([
    ['that says nothing changes nothing', {}, []],
    [
      'that lets callers of a queue in is refused',
      { loadBalancer: { isPublic: true } },
      ["$.loadBalancer: applies to a 'LOAD_BALANCER' endpoint only; omit it"],
    ],
    ['that says what is changes nothing', { name: 'echo', container: { args: '--a' }, gpu: { count: 1 } }, []],
    [
      'of name, workers, timeout makes no release',
      { name: 'b', workers: { max: 5 }, executionTimeoutMs: 1_000 },
      ['name: "echo" → "b"', 'timeout: 300000 → 1000', 'workers.max: 3 → 5'],
    ],
    [
      'of the container makes one',
      { container: { image: 'local/b', registryId: null, diskGb: 30 } },
      ['!disk: 20 → 30', '!image: "local/echo" → "local/b"', '!registry: "r" → null'],
    ],
    [
      'replaces the whole environment, and shows no secret',
      { container: { env: { MODEL: 'b', API_KEY: 'two' } } },
      ['!env.API_KEY: "***" → "***"', '!env.MODEL: "a" → "b"'],
    ],
    [
      'that empties the environment',
      { container: { env: {} } },
      ['!env.API_KEY: "***" → null', '!env.MODEL: "a" → null'],
    ],
    [
      'of places makes a release, of flashboot none',
      { dataCenterIds: ['EU-1'], networkVolumeIds: ['v'], flashboot: 'FLASHBOOT' },
      ['!dataCenterIds: [] → ["EU-1"]', 'flashboot: "OFF" → "FLASHBOOT"', '!networkVolumes: [] → ["v"]'],
    ],
    [
      'of pools alone clears the exclusions',
      { gpu: { pools: ['AMPERE_24'] } },
      ['!gpu.excludedTypes: ["NVIDIA L4"] → []', '!gpu.pools: ["ADA_24","AMPERE_24"] → ["AMPERE_24"]'],
    ],
    [
      'without pools leaves pools and exclusions',
      { gpu: { count: 2, minCudaVersion: null } },
      ['!gpu.count: 1 → 2', '!gpu.minCudaVersion: "12.1" → null'],
    ],
    [
      'may change one CUDA rule for the other',
      { gpu: { minCudaVersion: null, allowedCudaVersions: ['12.4'] } },
      ['!gpu.allowedCudaVersions: [] → ["12.4"]', '!gpu.minCudaVersion: "12.1" → null'],
    ],
    [
      'to a scaler without an idle timeout takes it away',
      { scaling: REQUEST_COUNT },
      [
        'scaling.queueDelay: 4 → null',
        'scaling.requestCount: null → 2',
        'scaling.type: "QUEUE_DELAY" → "REQUEST_COUNT"',
        'workers.idleTimeout: 60 → null',
      ],
    ],
  ])('%s', (_, patch, expected) => {
    expect(outcome(GPU_SPEC, patch)).toEqual(expected);
  });

  test('back to a scaler with an idle timeout brings it back, as said or by default', () => {
    const spec = { ...GPU_SPEC, scaling: REQUEST_COUNT, workers: { min: 0, max: 3, idleTimeoutSeconds: null } };
    expect(outcome(spec, { scaling: GPU_SPEC.scaling })).toContain('workers.idleTimeout: null → 10');
    expect(outcome(spec, { scaling: GPU_SPEC.scaling, workers: { idleTimeoutSeconds: 5 } })).toContain(
      'workers.idleTimeout: null → 5',
    );
  });

  test('replaces all sizes of a CPU endpoint', () => {
    expect(outcome(CPU_SPEC, { cpu: [{ flavorId: 'cpu5m', vcpuCount: 4 }] })).toEqual([
      '!cpu: [{"id":"cpu3c","vcpuCount":2,"memory":4}] → [{"id":"cpu5m","vcpuCount":4,"memory":32}]',
    ]);
  });

  test('keeps an order of types until the selection is another', () => {
    const preferredTypes = ['NVIDIA RTX A5000', 'NVIDIA GeForce RTX 4090'];
    const { excludedTypes, pools } = GPU_SPEC.gpu as NonNullable<EndpointSpec['gpu']>;
    const spec = { ...GPU_SPEC, gpu: { ...(GPU_SPEC.gpu as NonNullable<EndpointSpec['gpu']>), preferredTypes } };
    const kept = { spec: { gpu: { preferredTypes } } };
    expect(patchEndpoint(spec, { gpu: { count: 2 } }, SHIPPED_CATALOG)).toMatchObject(kept);
    expect(patchEndpoint(spec, { gpu: { pools, excludedTypes } }, SHIPPED_CATALOG)).toMatchObject(kept);
    const other = patchEndpoint(spec, { gpu: { pools } }, SHIPPED_CATALOG);
    expect(other.kind === 'patched' && other.spec.gpu).not.toHaveProperty('preferredTypes');
  });
});

describe('a patch is refused', () => {
  const cuda =
    "$.gpu: send either a non-empty 'allowedCudaVersions' or 'minCudaVersion', not both; [] or \"\" clears what is stored";

  test.each<[string, EndpointPatch, string[]]>([
    ['for CPUs on a GPU endpoint', { cpu: [] }, ['$.cpu: the endpoint runs on GPUs and stays there']],
    ['for CUDA versions beside a stored floor', { gpu: { allowedCudaVersions: ['12.4'] } }, [cuda]],
    [
      'for a minimum above the stored maximum',
      { workers: { min: 4 } },
      ["$.workers.min: must not be above 'max', which is 3, but is 4"],
    ],
    [
      'for a maximum below the stored minimum',
      { workers: { max: -1 } },
      ["$.workers.min: must not be above 'max', which is -1, but is 0"],
    ],
    [
      'for an idle timeout that goes',
      { scaling: REQUEST_COUNT, workers: { idleTimeoutSeconds: 5 } },
      ["$.workers.idleTimeout: does not apply to a 'QUEUE' endpoint that scales on 'REQUEST_COUNT'; omit it"],
    ],
    [
      'for a pool that there is not',
      { gpu: { pools: ['ADA_25'] } },
      [
        expect.stringMatching(
          /^\$\.gpu\.pools\[0\]: unknown GPU pool 'ADA_25' \(did you mean 'ADA_24'\?\)/,
        ) as unknown as string,
      ],
    ],
    [
      'with every failure of the first group',
      { cpu: [], workers: { min: 9 }, gpu: { pools: ['ADA_25'] } },
      [
        '$.cpu: the endpoint runs on GPUs and stays there',
        "$.workers.min: must not be above 'max', which is 3, but is 9",
      ],
    ],
  ])('%s', (_, patch, expected) => {
    expect(outcome(GPU_SPEC, patch)).toEqual(expected);
  });

  test('for GPUs on a CPU endpoint', () => {
    expect(outcome(CPU_SPEC, { gpu: { count: 1 } })).toEqual(['$.gpu: the endpoint runs on CPUs and stays there']);
  });

  test('for the queue delay on a load balancer', () => {
    const spec: EndpointSpec = { ...CPU_SPEC, type: 'LOAD_BALANCER', scaling: REQUEST_COUNT };
    expect(outcome(spec, { scaling: GPU_SPEC.scaling })).toEqual([
      "$.scaling.type: a 'LOAD_BALANCER' endpoint scales on 'REQUEST_COUNT' only",
    ]);
  });

  test('not for a flavor that the catalog has lost, while nobody speaks of it', () => {
    const spec: EndpointSpec = {
      ...GPU_SPEC,
      gpu: { ...(GPU_SPEC.gpu as NonNullable<EndpointSpec['gpu']>), pools: ['GONE'] },
    };
    expect(outcome(spec, { name: 'b' })).toEqual(['name: "echo" → "b"']);
  });
});
