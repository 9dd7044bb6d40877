import type { CpuFlavor } from './cpu-flavors.js';
import { ownDataCenter, type DataCenter } from './data-centers.js';
import { describeCard, type GpuCard, type GpuType } from './gpu-types.js';

/** What a catalog is made of. No two entries of one table have one id, and no two cards one name. */
export interface CatalogTables {
  readonly gpuCards: readonly GpuCard[];
  /** USD per second of one GPU, by pool. */
  readonly poolPrices: ReadonlyMap<string, number>;
  readonly cpuFlavors: readonly CpuFlavor[];
  readonly dataCenters: readonly DataCenter[];
}

/** The hardware that an installation knows by name, in the order of the catalog's answers. It never changes. */
export class HardwareCatalog {
  readonly gpuTypes: readonly GpuType[];
  /** Pools that some type is in, in the order of the types. */
  readonly gpuPools: readonly string[];
  readonly cpuFlavors: readonly CpuFlavor[];
  readonly dataCenters: readonly DataCenter[];
  readonly #types: ReadonlyMap<string, GpuType>;
  readonly #typesByReportedName: ReadonlyMap<string, GpuType>;
  readonly #typesByPool: ReadonlyMap<string | null, readonly GpuType[]>;
  readonly #flavors: ReadonlyMap<string, CpuFlavor>;
  readonly #dataCenters: ReadonlyMap<string, DataCenter>;

  constructor({ cpuFlavors, dataCenters, gpuCards, poolPrices }: CatalogTables) {
    this.gpuTypes = gpuCards.map((card) => describeCard(card, poolPrices));
    this.cpuFlavors = cpuFlavors;
    this.dataCenters = dataCenters;
    this.#types = new Map(this.gpuTypes.map((type) => [type.id, type]));
    this.#typesByReportedName = new Map(
      this.gpuTypes.flatMap((type) => reportedNamesOf(type).map((name) => [name, type] as const)),
    );
    this.#typesByPool = Map.groupBy(this.gpuTypes, ({ pool }) => pool);
    this.gpuPools = [...this.#typesByPool.keys()].filter((pool) => pool !== null);
    this.#flavors = new Map(cpuFlavors.map((flavor) => [flavor.id, flavor]));
    this.#dataCenters = new Map(dataCenters.map((each) => [each.id, each]));
  }

  /** Undefined for a type that the catalog does not have. */
  gpuType(typeId: string): GpuType | undefined {
    return this.#types.get(typeId);
  }

  /** The type of a card, by what its driver calls it; undefined for a card that the catalog does not know. */
  gpuTypeOfCard(reportedName: string): GpuType | undefined {
    return this.#typesByReportedName.get(reportedName);
  }

  /** The id of a card's type: of one that the catalog does not know, what its driver calls it. */
  gpuTypeIdOfCard(reportedName: string): string {
    return this.gpuTypeOfCard(reportedName)?.id ?? reportedName;
  }

  /** Empty for an unknown pool. */
  gpuTypesOfPool(pool: string): readonly GpuType[] {
    return this.#typesByPool.get(pool) ?? [];
  }

  cpuFlavor(flavorId: string): CpuFlavor | undefined {
    return this.#flavors.get(flavorId);
  }

  /** An id that the catalog does not have is the operator's own. */
  dataCenter(id: string): DataCenter {
    return this.#dataCenters.get(id) ?? ownDataCenter(id);
  }
}

/** What drivers call cards of the type: its id, and its further names. */
export const reportedNamesOf = ({ id, reportedAs = [] }: GpuCard): readonly string[] => [id, ...reportedAs];
