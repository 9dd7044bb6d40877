/** A CPU flavor of the catalog. */
export interface CpuFlavor {
  readonly id: string;
  readonly name: string;
  /** Generation of the processors, as the catalog shows it. */
  readonly group: string;
  readonly ramGbPerVcpu: number;
  readonly vcpuMin: number;
  readonly vcpuMax: number;
}

type Row = readonly [id: string, name: string, group: string, ramGbPerVcpu: number];

const VCPU_MIN = 2;
const VCPU_MAX = 32;

/** The published flavors (wire contract 6.6); what is not published there of `cpu5g` is taken from its siblings. */
const ROWS: readonly Row[] = [
  ['cpu3c', 'Compute-Optimized', 'Gen 3', 2],
  ['cpu3g', 'General purpose', 'Gen 3', 4],
  ['cpu3m', 'Memory-Optimized', 'Gen 3', 8],
  ['cpu5c', 'Compute-Optimized', 'Gen 5', 2],
  ['cpu5g', 'General purpose', 'Gen 5', 4],
  ['cpu5m', 'Memory-Optimized', 'Gen 5', 8],
];

export const CPU_FLAVORS: readonly CpuFlavor[] = ROWS.map(([id, name, group, ramGbPerVcpu]) => ({
  id,
  name,
  group,
  ramGbPerVcpu,
  vcpuMin: VCPU_MIN,
  vcpuMax: VCPU_MAX,
}));

export const cpuFlavorById = (flavorId: string): CpuFlavor | undefined =>
  CPU_FLAVORS.find((flavor) => flavor.id === flavorId);

/** Memory of a worker of this flavor: whole GB, at least 1 (specification, "CPU config"). */
export const cpuMemoryGb = (flavor: Pick<CpuFlavor, 'ramGbPerVcpu'>, vcpuCount: number): number =>
  Math.max(1, Math.floor(flavor.ramGbPerVcpu * vcpuCount));
