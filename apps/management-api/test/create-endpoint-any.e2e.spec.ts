import { beforeAll, expect, test } from '@jest/globals';
import { SHIPPED_CATALOG } from '@berth/domain';
import fc from 'fast-check';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();

const RUNS = 150;

let registry: string;
let volumes: string[];

beforeAll(async () => {
  const made = async (path: string, body: object): Promise<string> =>
    (await bench.call(`POST ${path}`, { body })).body.id as string;
  registry = await made('/v2/registries', { name: 'r', username: 'u', password: 'p' });
  const volume = { name: 'v', size: 10, dataCenter: 'EU-RO-1' };
  volumes = [await made('/v2/network-volumes', volume), await made('/v2/network-volumes', volume)];
});

const text = (constraints: { minLength?: number; maxLength: number }): fc.Arbitrary<string> =>
  fc.string({ unit: 'grapheme', ...constraints }).filter((each) => !each.includes('\0') && each.length <= 255);

const name = text({ minLength: 1, maxLength: 40 }).filter((each) => each.trim() !== '' && !/\p{Cc}/u.test(each));
const word = fc.stringMatching(/^[a-z0-9./:_-]{1,40}$/);
const cuda = fc.stringMatching(/^\d{1,2}\.\d{1,2}$/);
const list = <Item>(item: fc.Arbitrary<Item>): fc.Arbitrary<Item[]> => fc.array(item, { maxLength: 4 });

const gpu = fc.array(fc.constantFrom(...SHIPPED_CATALOG.gpuPools), { minLength: 1, maxLength: 4 }).chain((pools) => {
  const types = [...new Set(pools)].flatMap((pool) => SHIPPED_CATALOG.gpuTypesOfPool(pool).map(({ id }) => id));
  return fc
    .record(
      {
        excludedTypes: fc.shuffledSubarray(types, { maxLength: types.length - 1 }),
        count: fc.integer({ min: 1, max: 16 }),
        rule: fc.oneof(
          fc.record({ allowedCudaVersions: list(cuda) }),
          fc.record({ minCudaVersion: cuda }),
          fc.record({ allowedCudaVersions: fc.constant([]), minCudaVersion: cuda }),
        ),
      },
      { requiredKeys: [] },
    )
    .map(({ rule, ...rest }) => ({ pools, ...rest, ...rule }));
});

const size = fc.record({
  id: fc.constantFrom(...SHIPPED_CATALOG.cpuFlavors.map((flavor) => flavor.id)),
  vcpuCount: fc.constantFrom(2, 4, 8, 16, 32),
});
const cpu = fc.uniqueArray(size, { minLength: 1, maxLength: 4, selector: (each) => `${each.id}-${each.vcpuCount}` });

const delay = fc.record({
  type: fc.constant('QUEUE_DELAY'),
  queueDelay: fc.double({ min: 0.5, max: 2_147_483_647, noNaN: true }),
});
const count = fc.record({ type: fc.constant('REQUEST_COUNT'), requestCount: fc.integer({ min: 1, max: 2 ** 31 - 1 }) });
const routing = fc.oneof(
  fc.record({ type: fc.constant('QUEUE'), scaling: fc.oneof(delay, count) }),
  fc.record({ type: fc.constant('LOAD_BALANCER'), scaling: count }),
);

const workers = fc
  .record({ min: fc.nat(1_000), more: fc.nat(1_000), idleTimeout: fc.option(fc.integer({ min: 1, max: 3_600 })) })
  .map(({ idleTimeout, min, more }) => ({
    min,
    max: Math.min(1_000, min + more),
    ...(idleTimeout === null ? {} : { idleTimeout }),
  }));

/** Everything that the schema and the rules let in; what refers to something is filled in when it is there. */
const admitted = fc
  .record({
    routing,
    compute: fc.oneof(
      gpu.map((only) => ({ gpu: only })),
      cpu.map((only) => ({ cpu: only })),
    ),
    named: fc.record({ name, image: word }),
    rest: fc.record(
      {
        args: word,
        disk: fc.integer({ min: 1, max: 65_536 }),
        env: fc.dictionary(fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,20}$/), text({ maxLength: 40 })),
        ports: fc.uniqueArray(
          fc
            .tuple(fc.integer({ min: 1, max: 65_535 }), fc.constantFrom('http', 'tcp', 'udp'))
            .map((pair) => pair.join('/')),
          { maxLength: 4 },
        ),
        registry: fc.constantFrom(null, 'the registry'),
        dataCenterIds: list(word).map((ids) => (ids.length === 0 ? ids : ['EU-RO-1', ...ids])),
        networkVolumes: list(fc.nat(1)),
        flashboot: fc.constantFrom('OFF', 'FLASHBOOT', 'PRIORITY_FLASHBOOT'),
        timeout: fc.integer({ min: 1_000, max: 604_800_000 }),
        workers,
      },
      { requiredKeys: [] },
    ),
  })
  .map(({ compute, named, rest, routing: { scaling, type } }) => {
    const { workers: range, ...others } = rest;
    const isCounting = type === 'QUEUE' && scaling.type === 'REQUEST_COUNT';
    const { idleTimeout, ...bounds } = range ?? {};
    const kept = isCounting || idleTimeout === undefined ? bounds : { ...bounds, idleTimeout };
    return { ...named, type, scaling, ...compute, ...others, ...(range === undefined ? {} : { workers: kept }) };
  });

type Admitted = typeof admitted extends fc.Arbitrary<infer Body> ? Body : never;

const filledIn = (body: Admitted): object => ({
  ...body,
  ...('registry' in body && body.registry !== null ? { registry } : {}),
  ...('networkVolumes' in body ? { networkVolumes: body.networkVolumes?.map((index) => volumes[index]) } : {}),
});

/** As the answer has it: repeats merged, what was left out as it is by default. */
function normalised(body: object): object {
  const { cpu: sizes, gpu: selection, ...rest } = body as { cpu?: object[]; gpu?: Record<string, unknown> };
  const merged: [string, unknown][] = Object.entries(rest).map(([field, value]) =>
    ['dataCenterIds', 'networkVolumes'].includes(field) ? [field, [...new Set(value as string[])]] : [field, value],
  );
  return {
    ...Object.fromEntries(merged),
    ...(sizes === undefined ? {} : { cpu: sizes.map((each) => expect.objectContaining(each) as unknown) }),
    gpu: selection === undefined ? null : normalisedGpu(selection),
  };
}

const normalisedGpu = ({ allowedCudaVersions = [], pools, ...rest }: Record<string, unknown>): object => ({
  excludedTypes: [],
  count: 1,
  minCudaVersion: null,
  ...rest,
  pools: [...new Set(pools as string[])],
  allowedCudaVersions: [...new Set(allowedCudaVersions as string[])],
});

test('whatever schema and rules admit is made, and reads back as it was sent', async () => {
  await fc.assert(
    fc.asyncProperty(admitted, async (generated) => {
      const sent = filledIn(generated);
      const made = await bench.call('POST /v2/serverless', { body: sent });
      expect([made.status, made.body.errors]).toEqual([201, undefined]);
      const { body } = await bench.call(`GET /v2/serverless/${made.body.id}`);
      expect(body).toEqual(made.body);
      expect(body).toMatchObject(normalised(sent));
    }),
    { numRuns: RUNS },
  );
});

const FIELDS = [
  ...Object.keys(QUEUE_ENDPOINT),
  'gpu',
  'args',
  'disk',
  'env',
  'ports',
  'registry',
  'templateId',
  'bogus',
];
const hostile = fc.oneof(
  fc.jsonValue({ maxDepth: 3, noUnicodeString: false }),
  fc.constantFrom(null, '', -1, 0.1, Number.MAX_VALUE, [], {}, [[]], 'x'.repeat(2_000)),
);

test('whatever else is sent is the sender’s fault, and never ours', async () => {
  await fc.assert(
    fc.asyncProperty(
      admitted,
      fc.array(fc.tuple(fc.constantFrom(...FIELDS), hostile), { minLength: 1, maxLength: 3 }),
      async (generated, changes) => {
        const body = { ...filledIn(generated), ...Object.fromEntries(changes) };
        const { status } = await bench.call('POST /v2/serverless', { body });
        expect([201, 400, 404, 422]).toContain(status);
      },
    ),
    { numRuns: RUNS },
  );
});
