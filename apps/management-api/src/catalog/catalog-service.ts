import {
  PlatformError,
  findCpuFlavor,
  findDataCenter,
  findGpuType,
  installationOf,
  listCpuFlavors,
  listDataCenters,
  listGpuTypes,
  type CpuCatalogEntry,
  type CpuStockQuery,
  type DataCenterCatalogEntry,
  type DataCenterFilter,
  type DataCenterStockQuery,
  type ErrorCode,
  type GpuCatalogEntry,
  type GpuStockQuery,
  type HardwareCatalog,
  type Installation,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { HostLoadsStore } from './host-loads.store.js';

export interface CatalogServiceOptions {
  readonly catalog: HardwareCatalog;
  readonly loads: HostLoadsStore;
  readonly clock: Clock;
}

/** The offer of the installation. It is the same for every account: of other tenants it knows nothing but totals. */
export class CatalogService {
  readonly #options: CatalogServiceOptions;

  constructor(options: CatalogServiceOptions) {
    this.#options = options;
  }

  async gpus(query: GpuStockQuery | null): Promise<readonly GpuCatalogEntry[]> {
    return listGpuTypes(await this.#installation(), query);
  }

  /** @throws PlatformError `gpu-type-not-found` */
  async gpu(id: string, query: GpuStockQuery | null): Promise<GpuCatalogEntry> {
    return found(findGpuType(await this.#installation(), id, query), 'gpu-type-not-found', 'No such GPU type.');
  }

  async cpus(query: CpuStockQuery | null): Promise<readonly CpuCatalogEntry[]> {
    return listCpuFlavors(await this.#installation(), query);
  }

  /** @throws PlatformError `cpu-flavor-not-found` */
  async cpu(id: string, query: CpuStockQuery | null): Promise<CpuCatalogEntry> {
    return found(findCpuFlavor(await this.#installation(), id, query), 'cpu-flavor-not-found', 'No such CPU flavor.');
  }

  async dataCenters(filter: DataCenterFilter, query: DataCenterStockQuery): Promise<readonly DataCenterCatalogEntry[]> {
    return listDataCenters(await this.#installation(), filter, query);
  }

  /** @throws PlatformError `data-center-not-found` */
  async dataCenter(id: string, query: DataCenterStockQuery): Promise<DataCenterCatalogEntry> {
    return found(
      findDataCenter(await this.#installation(), id, query),
      'data-center-not-found',
      'No such data center.',
    );
  }

  async #installation(): Promise<Installation> {
    const { catalog, clock, loads } = this.#options;
    return installationOf(await loads.all(), catalog, clock.nowMs());
  }
}

function found<T>(thing: T | undefined, code: ErrorCode, detail: string): T {
  if (thing === undefined) throw new PlatformError(code, detail);
  return thing;
}
