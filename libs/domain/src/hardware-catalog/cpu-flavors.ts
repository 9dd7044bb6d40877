/** A CPU flavor of the catalog. */
export interface CpuFlavor {
  readonly id: string;
  readonly name: string;
  /** Generation of the processors, as the catalog shows it. */
  readonly group: string;
  readonly ramGbPerVcpu: number;
  readonly vcpuMin: number;
  readonly vcpuMax: number;
  /** Published prices of one vCPU; null where none is published. */
  readonly podUsdPerHour: number | null;
  readonly serverlessUsdPerHour: number | null;
}

type Row = readonly [
  id: string,
  name: string,
  group: string,
  ramGbPerVcpu: number,
  podUsdPerHour: number | null,
  serverlessUsdPerHour: number | null,
];

/** The least vCPU of a CPU worker, of any flavor. */
export const VCPU_MIN = 2;
/** The most, of a flavor that does not say. */
export const VCPU_MAX = 32;

/** The published flavors (wire contract 6.6); what is not published there of `cpu5g` is taken from its siblings. */
const ROWS: readonly Row[] = [
  ['cpu3c', 'Compute-Optimized', 'Gen 3', 2, 0.03, 0.036],
  ['cpu3g', 'General purpose', 'Gen 3', 4, 0.04, 0.05],
  ['cpu3m', 'Memory-Optimized', 'Gen 3', 8, null, null],
  ['cpu5c', 'Compute-Optimized', 'Gen 5', 2, 0.035, 0.042],
  ['cpu5g', 'General purpose', 'Gen 5', 4, null, null],
  ['cpu5m', 'Memory-Optimized', 'Gen 5', 8, 0.065, null],
];

export const SHIPPED_CPU_FLAVORS: readonly CpuFlavor[] = ROWS.map(
  ([id, name, group, ramGbPerVcpu, podUsdPerHour, serverlessUsdPerHour]) => ({
    id,
    name,
    group,
    ramGbPerVcpu,
    vcpuMin: VCPU_MIN,
    vcpuMax: VCPU_MAX,
    podUsdPerHour,
    serverlessUsdPerHour,
  }),
);

/** The size that the flavor does have and that comes nearest to the wanted one: sizes are powers of two. */
export const nearestVcpuCount = ({ vcpuMax, vcpuMin }: CpuFlavor, wanted: number): number =>
  Math.min(Math.max(2 ** Math.round(Math.log2(wanted)), vcpuMin), vcpuMax);

/** A flavor that the catalog has no more: what is shown of an endpoint that names it is reckoned with the least ratio. */
export const LOST_FLAVOR: Pick<CpuFlavor, 'ramGbPerVcpu'> = { ramGbPerVcpu: 2 };

/** Memory of a worker of this flavor: whole GB, at least 1 (API decisions 3.3). */
export const cpuMemoryGb = (flavor: Pick<CpuFlavor, 'ramGbPerVcpu'>, vcpuCount: number): number =>
  Math.max(1, Math.floor(flavor.ramGbPerVcpu * vcpuCount));
