import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SHIPPED_CATALOG } from '../hardware-catalog/index.js';
import type { CpuRequest, GpuRequest } from '../hardware-request/index.js';
import { checkCatalogs } from './check-catalogs.js';
import { resolveWorkerRange } from './defaults.js';
import type { ContainerSpec, EndpointSpec, Scaling } from './endpoint.js';
import { patchEndpoint, type EndpointPatch } from './patch-endpoint.js';
import { checkEndpointRules } from './validate-endpoint.js';

const text = fc.constantFrom('', 'a', 'b');
const scaling: fc.Arbitrary<Scaling> = fc.oneof(
  fc.constantFrom<Scaling>(
    { type: 'QUEUE_DELAY', queueDelaySeconds: 1 },
    { type: 'QUEUE_DELAY', queueDelaySeconds: 4 },
    { type: 'REQUEST_COUNT', requestCount: 1 },
  ),
);

const container: fc.Arbitrary<ContainerSpec> = fc.record({
  image: fc.constantFrom('i', 'j'),
  args: text,
  diskGb: fc.constantFrom(null, 1, 2),
  env: fc.dictionary(fc.constantFrom('A', 'B_TOKEN'), text),
  ports: fc.constantFrom([], ['80/http']),
  registryId: fc.constantFrom(null, 'r'),
});

const pools = fc.uniqueArray(fc.constantFrom(...SHIPPED_CATALOG.gpuPools.slice(0, 4)), { minLength: 1, maxLength: 3 });
const cuda = fc.constantFrom(
  { allowedCudaVersions: [], minCudaVersion: null },
  { allowedCudaVersions: ['12.4'], minCudaVersion: null },
  { allowedCudaVersions: [], minCudaVersion: '12.1' },
);

const gpu: fc.Arbitrary<GpuRequest> = pools.chain((chosen) => {
  const types = chosen.flatMap((pool) => SHIPPED_CATALOG.gpuTypesOfPool(pool).map(({ id }) => id));
  return fc
    .record({
      excludedTypes: fc.subarray(types, { maxLength: types.length - 1 }),
      count: fc.integer({ min: 1, max: 2 }),
      cuda,
      preferredTypes: fc.option(fc.subarray(types), { nil: null }),
    })
    .map(({ cuda: versions, preferredTypes, ...rest }) => ({
      pools: chosen,
      ...rest,
      ...versions,
      ...(preferredTypes === null ? {} : { preferredTypes }),
    }));
});

const cpu: fc.Arbitrary<CpuRequest[]> = fc.array(
  fc.record({
    flavorId: fc.constantFrom(...SHIPPED_CATALOG.cpuFlavors.map(({ id }) => id)),
    vcpuCount: fc.constantFrom(2, 4, 32),
  }),
  { minLength: 1, maxLength: 2 },
);

/** Everything that a create lets in. */
const spec: fc.Arbitrary<EndpointSpec> = fc
  .record({
    name: text,
    type: fc.constantFrom('QUEUE' as const, 'LOAD_BALANCER' as const),
    container,
    scaling,
    min: fc.integer({ min: 0, max: 3 }),
    more: fc.integer({ min: 0, max: 3 }),
    idle: fc.integer({ min: 1, max: 60 }),
    compute: fc.oneof(
      gpu.map((only) => ({ gpu: only, cpu: null })),
      cpu.map((only) => ({ gpu: null, cpu: only })),
    ),
    dataCenterIds: fc.constantFrom([], ['EU-1']),
    networkVolumeIds: fc.constantFrom([], ['v']),
    flashboot: fc.constantFrom('OFF' as const, 'FLASHBOOT' as const),
    executionTimeoutMs: fc.constantFrom(1_000, 300_000),
  })
  .filter(({ type, scaling: by }) => type === 'QUEUE' || by.type === 'REQUEST_COUNT')
  .map(({ compute, idle, min, more, ...rest }) => ({
    ...rest,
    ...compute,
    workers: resolveWorkerRange(rest, { min, max: min + more, idleTimeoutSeconds: idle }),
  }));

const optional = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | undefined> =>
  fc.option(value, { nil: undefined });

const gpuPatch = fc
  .record(
    {
      pools: fc.uniqueArray(fc.constantFrom(...SHIPPED_CATALOG.gpuPools.slice(0, 4), 'NOPE'), {
        minLength: 1,
        maxLength: 3,
      }),
      excludedTypes: fc.subarray(SHIPPED_CATALOG.gpuTypesOfPool('AMPERE_24').map(({ id }) => id)),
      count: fc.integer({ min: 1, max: 2 }),
      allowedCudaVersions: fc.constantFrom([], ['12.4']),
      minCudaVersion: fc.constantFrom(null, '12.1'),
    },
    { requiredKeys: [] },
  )
  .map(({ excludedTypes, ...rest }) =>
    rest.pools === undefined || excludedTypes === undefined ? rest : { ...rest, excludedTypes },
  );

const patch: fc.Arbitrary<EndpointPatch> = fc.record({
  name: optional(text),
  container: optional(
    fc.oneof(
      container,
      container.map(({ env }) => ({ env })),
      container.map(({ image }) => ({ image })),
    ),
  ),
  gpu: optional(gpuPatch),
  cpu: optional(cpu),
  scaling: optional(scaling),
  workers: optional(
    fc.record(
      { min: fc.nat(4), max: fc.nat(4), idleTimeoutSeconds: fc.integer({ min: 1, max: 60 }) },
      { requiredKeys: [] },
    ),
  ),
  dataCenterIds: optional(fc.constantFrom([], ['EU-1'])),
  networkVolumeIds: optional(fc.constantFrom([], ['v'])),
  flashboot: optional(fc.constantFrom('OFF' as const, 'FLASHBOOT' as const)),
  executionTimeoutMs: optional(fc.constantFrom(1_000, 300_000)),
});

/** Left of the fields that apply at once, once workers are looked away from: equal means that no worker needs to change. */
const workersMadeOf = (all: EndpointSpec): object => {
  const { cpu: sizes, dataCenterIds, gpu: cards, networkVolumeIds } = all;
  // The order of variables is no difference.
  const container = { ...all.container, env: Object.entries(all.container.env).sort() };
  return { container, sizes, dataCenterIds, networkVolumeIds, cards: withoutOrder(cards) };
};

const withoutOrder = (request: GpuRequest | null): object | null =>
  request === null ? null : { ...request, preferredTypes: undefined };

const holds = (property: (before: EndpointSpec, said: EndpointPatch) => void): void => {
  fc.assert(fc.property(spec, patch, property), { numRuns: 500 });
};

describe('whatever is patched', () => {
  test('what a patch leads to could have been created', () => {
    holds((before, said) => {
      const after = patchEndpoint(before, said, SHIPPED_CATALOG);
      if (after.kind === 'refused') expect(after.failures).not.toEqual([]);
      else expect([...checkEndpointRules(after.spec), ...checkCatalogs(after.spec, SHIPPED_CATALOG)]).toEqual([]);
    });
  });

  test('the same patch once more changes nothing', () => {
    holds((before, said) => {
      const once = patchEndpoint(before, said, SHIPPED_CATALOG);
      if (once.kind === 'refused') return;
      expect(patchEndpoint(once.spec, said, SHIPPED_CATALOG)).toEqual({
        kind: 'patched',
        spec: once.spec,
        diff: [],
        releaseDiff: [],
      });
    });
  });

  test('a patch that says nothing changes nothing', () => {
    holds((before) => {
      expect(patchEndpoint(before, {}, SHIPPED_CATALOG)).toEqual({
        kind: 'patched',
        spec: before,
        diff: [],
        releaseDiff: [],
      });
    });
  });

  test('a release is made exactly when what workers are made of differs', () => {
    holds((before, said) => {
      const after = patchEndpoint(before, said, SHIPPED_CATALOG);
      if (after.kind === 'refused') return;
      const isSame = JSON.stringify(workersMadeOf(before)) === JSON.stringify(workersMadeOf(after.spec));
      if (isSame) expect(after.releaseDiff).toEqual([]);
      else expect(after.releaseDiff).not.toEqual([]);
      expect(after.diff).toEqual(expect.arrayContaining([...after.releaseDiff]));
    });
  });

  test('no secret is told', () => {
    holds((before, said) => {
      const after = patchEndpoint(before, said, SHIPPED_CATALOG);
      if (after.kind === 'refused') return;
      for (const change of after.diff.filter(({ field }) => field === 'env.B_TOKEN')) {
        expect([null, '***']).toContain(change.old);
        expect([null, '***']).toContain(change.new);
      }
    });
  });
});
