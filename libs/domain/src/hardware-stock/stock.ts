import type { WorkerOption } from '../placement/index.js';
import { availabilityOf, type AvailabilityLevel } from './availability.js';
import type { HardwareCatalog } from '../hardware-catalog/index.js';
import { unitsOn, type OpenHost } from './installation.js';

/** The products that capacity can be for. */
export const PRODUCTS = ['POD', 'CLUSTER', 'SERVERLESS'] as const;
export type Product = (typeof PRODUCTS)[number];

/** A named thing of a catalog with its availability. */
export interface StockLine {
  readonly id: string;
  readonly name: string;
  readonly availability: AvailabilityLevel;
}

/** How much there is of one kind of worker. */
export interface Stock {
  readonly availability: AvailabilityLevel;
  /** Those with a host large enough, free or not, by id. */
  readonly dataCenters: readonly StockLine[];
}

/** A cluster has two pods at least, all in one data center. */
const CLUSTER_PODS_MIN = 2;

/** Hosts that count, in the words of a catalog. */
export interface CountedHosts {
  readonly catalog: HardwareCatalog;
  readonly hosts: readonly OpenHost[];
}

/** @param products any of them will do */
export function stockOf({ catalog, hosts }: CountedHosts, option: WorkerOption, products: readonly Product[]): Stock {
  const suitable = hosts.filter((host) => unitsOn(host, option, 'whole') > 0);
  const ids = [...new Set(suitable.map(({ dataCenterId }) => dataCenterId))].toSorted();
  const least = products.every((product) => product === 'CLUSTER') ? CLUSTER_PODS_MIN : 1;
  const units = ids.map((id) => {
    const there = suitable.filter(({ dataCenterId }) => dataCenterId === id);
    const sum = there.reduce((total, host) => total + unitsOn(host, option, 'free'), 0);
    return sum < least ? 0 : sum;
  });
  return {
    availability: availabilityOf(units.reduce((total, each) => total + each, 0)),
    dataCenters: ids.map((id, index) => ({
      id,
      name: catalog.dataCenter(id).name,
      availability: availabilityOf(units[index] ?? 0),
    })),
  };
}
