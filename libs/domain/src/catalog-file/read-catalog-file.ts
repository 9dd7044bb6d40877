import {
  HardwareCatalog,
  VCPU_MAX,
  VCPU_MIN,
  ownDataCenter,
  reportedNamesOf,
  type CatalogTables,
  type CpuFlavor,
  type DataCenter,
  type GpuCard,
} from '../hardware-catalog/index.js';
import { isObject } from '../shape/index.js';
import {
  CPU_FLAVOR,
  DATA_CENTER,
  FLAVOR_ID,
  GPU_CARD,
  GPU_TYPE_ID,
  POOL,
  POOL_ID,
  type PoolEntry,
} from './catalog-words.js';
import { layOver, pathOf, unknownName, type TableRules } from './lay-over.js';

export type CatalogReading =
  | { readonly kind: 'catalog'; readonly catalog: HardwareCatalog }
  /** Every problem, each with its place in the file and what would be right. */
  | { readonly kind: 'refused'; readonly problems: readonly string[] };

type Pool = PoolEntry & { readonly id: string };

const TABLES = ['gpuTypes', 'gpuPools', 'cpuFlavors', 'dataCenters'];

const GPU_TYPES: TableRules<GpuCard> = {
  ...{ path: '$.gpuTypes', id: GPU_TYPE_ID, members: GPU_CARD, needed: ['memoryGb'] },
  fresh: (id) => ({ id, name: id, memoryGb: 0, pool: null }),
};

const GPU_POOLS: TableRules<Pool> = {
  ...{ path: '$.gpuPools', id: POOL_ID, members: POOL, needed: ['serverlessUsdPerSecond'] },
  fresh: (id) => ({ id, serverlessUsdPerSecond: null }),
};

const CPU_FLAVORS: TableRules<CpuFlavor> = {
  ...{ path: '$.cpuFlavors', id: FLAVOR_ID, members: CPU_FLAVOR, needed: ['ramGbPerVcpu'] },
  fresh: (id) => ({
    ...{ id, name: id, group: 'Own', ramGbPerVcpu: 0, vcpuMin: VCPU_MIN, vcpuMax: VCPU_MAX },
    ...{ podUsdPerHour: null, serverlessUsdPerHour: null },
  }),
};

const DATA_CENTERS: TableRules<DataCenter> = {
  ...{ path: '$.dataCenters', id: POOL_ID, members: DATA_CENTER, needed: [], fresh: ownDataCenter },
};

/** The shipped tables with an operator's file over them (ADR 0063). @param file its JSON, whatever that is */
export function readCatalogFile(file: unknown, shipped: CatalogTables): CatalogReading {
  if (!isObject(file)) return { kind: 'refused', problems: ['$ must be an object'] };
  const strangers = Object.keys(file).filter((name) => !TABLES.includes(name));
  const cards = layOver(shipped.gpuCards, file['gpuTypes'], GPU_TYPES);
  const pools = layOver(poolsOf(shipped), file['gpuPools'], GPU_POOLS);
  const flavors = layOver(shipped.cpuFlavors, file['cpuFlavors'], CPU_FLAVORS);
  const dataCenters = layOver(shipped.dataCenters, file['dataCenters'], DATA_CENTERS);
  const faults = [
    ...strangers.map((name) => unknownName('$', name, TABLES)),
    ...[cards, pools, flavors, dataCenters].flatMap(({ problems }) => problems),
  ];
  // What the tables say of one another can be told only once each of them is right.
  const problems =
    faults.length > 0
      ? faults
      : [
          ...sharedNames(cards.entries),
          ...emptyPools(file['gpuPools'], cards.entries),
          ...emptyRanges(flavors.entries),
        ];
  if (problems.length > 0) return { kind: 'refused', problems };
  const tables = {
    gpuCards: cards.entries,
    poolPrices: pricesOf(pools.entries),
    cpuFlavors: flavors.entries,
    dataCenters: dataCenters.entries,
  };
  return { kind: 'catalog', catalog: new HardwareCatalog(tables) };
}

const poolsOf = ({ poolPrices }: CatalogTables): readonly Pool[] =>
  Array.from(poolPrices, ([id, serverlessUsdPerSecond]) => ({ id, serverlessUsdPerSecond }));

const pricesOf = (pools: readonly Pool[]): ReadonlyMap<string, number> =>
  new Map(pools.flatMap(({ id, serverlessUsdPerSecond: usd }) => (usd === null ? [] : [[id, usd] as const])));

/** A card can be of one type only. */
function sharedNames(cards: readonly GpuCard[]): readonly string[] {
  const owners = new Map<string, string>();
  const problems: string[] = [];
  for (const card of cards.toSorted((a, b) => (a.reportedAs?.length ?? 0) - (b.reportedAs?.length ?? 0))) {
    for (const name of reportedNamesOf(card)) {
      const owner = owners.get(name);
      if (owner !== undefined) {
        const path = `${pathOf(GPU_TYPES.path, card.id)}.reportedAs`;
        problems.push(
          `${path} names ${JSON.stringify(name)}, which is of ${JSON.stringify(owner)} already; leave it out of one`,
        );
      }
      owners.set(name, card.id);
    }
  }
  return problems;
}

function emptyPools(said: unknown, cards: readonly GpuCard[]): readonly string[] {
  const pools = new Set(cards.map(({ pool }) => pool));
  return Object.entries(isObject(said) ? said : {})
    .filter(([id, entry]) => entry !== null && !pools.has(id))
    .map(([id]) => `${pathOf(GPU_POOLS.path, id)}: no GPU type is in this pool; name it as the pool of one`);
}

const emptyRanges = (flavors: readonly CpuFlavor[]): readonly string[] =>
  flavors
    .filter(({ vcpuMax, vcpuMin }) => vcpuMin > vcpuMax)
    .map(({ id, vcpuMax }) => `${pathOf(CPU_FLAVORS.path, id)}.vcpuMin is above vcpuMax, ${vcpuMax}`);
