export type GpuManufacturer = 'NVIDIA' | 'AMD' | 'UNKNOWN';

/** A card of the tables that a catalog is made of. */
export interface GpuCard {
  /** The id of the management API, and a name by which drivers report it. */
  readonly id: string;
  readonly name: string;
  readonly memoryGb: number;
  /** Null: the type is in no serverless pool. */
  readonly pool: string | null;
  /** Further names by which drivers report it; absent: none. */
  readonly reportedAs?: readonly string[];
}

/** A GPU type of the catalog. */
export interface GpuType extends GpuCard {
  readonly manufacturer: GpuManufacturer;
  /** Published price of one GPU of a worker; null where none is published. */
  readonly serverlessUsdPerSecond: number | null;
}

type Row = readonly [id: string, name: string, memoryGb: number, pool: string | null];

/**
 * The published catalog (wire contract 6.5). The order of the rows is the order of the catalog's answers. A card that is not
 * published stands in an operator's own file: in a pool, so that endpoints get it at the pool's price. In no pool it needs
 * no row, since the catalog lists whatever hosts report.
 */
const ROWS: readonly Row[] = [
  ['NVIDIA RTX A4000', 'RTX A4000', 16, 'AMPERE_16'],
  ['NVIDIA RTX A4500', 'RTX A4500', 20, 'AMPERE_16'],
  ['NVIDIA RTX 4000 Ada Generation', 'RTX 4000 Ada', 20, 'AMPERE_16'],
  ['NVIDIA RTX 2000 Ada Generation', 'RTX 2000 Ada', 16, 'AMPERE_16'],
  ['NVIDIA L4', 'L4', 24, 'AMPERE_24'],
  ['NVIDIA RTX A5000', 'RTX A5000', 24, 'AMPERE_24'],
  ['NVIDIA GeForce RTX 3090', 'RTX 3090', 24, 'AMPERE_24'],
  ['NVIDIA GeForce RTX 4090', 'RTX 4090', 24, 'ADA_24'],
  ['NVIDIA GeForce RTX 5090', 'RTX 5090', 32, 'ADA_32_PRO'],
  ['NVIDIA A40', 'A40', 48, 'AMPERE_48'],
  ['NVIDIA RTX A6000', 'RTX A6000', 48, 'AMPERE_48'],
  ['NVIDIA L40', 'L40', 48, 'ADA_48_PRO'],
  ['NVIDIA L40S', 'L40S', 48, 'ADA_48_PRO'],
  ['NVIDIA RTX 6000 Ada Generation', 'RTX 6000 Ada', 48, 'ADA_48_PRO'],
  ['NVIDIA A100 80GB PCIe', 'A100 PCIe', 80, 'AMPERE_80'],
  ['NVIDIA A100-SXM4-80GB', 'A100 SXM', 80, 'AMPERE_80'],
  ['NVIDIA H100 PCIe', 'H100 PCIe', 80, 'ADA_80_PRO'],
  ['NVIDIA H100 80GB HBM3', 'H100 SXM', 80, 'ADA_80_PRO'],
  ['NVIDIA H100 NVL', 'H100 NVL', 94, 'ADA_80_PRO'],
  ['NVIDIA RTX PRO 6000 Blackwell Server Edition', 'RTX PRO 6000', 96, 'BLACKWELL_96'],
  ['NVIDIA RTX PRO 6000 Blackwell Workstation Edition', 'RTX PRO 6000 WK', 96, 'BLACKWELL_96'],
  ['NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition', 'RTX PRO 6000 MaxQ', 96, 'BLACKWELL_96'],
  ['NVIDIA H200', 'H200 SXM', 141, 'HOPPER_141'],
  ['NVIDIA B200', 'B200', 180, 'BLACKWELL_180'],
  ['NVIDIA B300 SXM6 AC', 'B300', 288, null],
  ['NVIDIA H200 NVL', 'NVIDIA H200 NVL', 143, null],
  ['AMD Instinct MI300X OAM', 'MI300X', 192, null],
  ['NVIDIA RTX PRO 4500 Blackwell', 'RTX PRO 4500', 32, null],
  ['NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb', 'PRO 6000 MIG 24GB', 24, null],
  ['NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 2g.48gb', 'PRO 6000 MIG 48GB', 48, null],
  ['NVIDIA RTX 5000 Ada Generation', 'RTX 5000 Ada', 32, null],
  ['NVIDIA RTX 4000 SFF Ada Generation', 'RTX 4000 Ada SFF', 20, null],
  ['NVIDIA RTX A2000', 'RTX A2000', 6, null],
  ['NVIDIA A30', 'A30', 24, null],
  ['NVIDIA GeForce RTX 3070', 'RTX 3070', 8, null],
  ['NVIDIA GeForce RTX 3080', 'RTX 3080', 10, null],
  ['NVIDIA GeForce RTX 3080 Ti', 'RTX 3080 Ti', 12, null],
  ['NVIDIA GeForce RTX 3090 Ti', 'RTX 3090 Ti', 24, null],
  ['NVIDIA GeForce RTX 4070 Ti', 'RTX 4070 Ti', 12, null],
  ['NVIDIA GeForce RTX 4080', 'RTX 4080', 16, null],
  ['NVIDIA GeForce RTX 4080 SUPER', 'RTX 4080 SUPER', 16, null],
  ['NVIDIA GeForce RTX 5080', 'RTX 5080', 16, null],
  ['Tesla V100-PCIE-16GB', 'Tesla V100', 16, null],
  ['Tesla V100-SXM2-16GB', 'V100 SXM2', 16, null],
  ['Tesla V100-SXM2-32GB', 'V100 SXM2 32GB', 32, null],
];

export const SHIPPED_GPU_CARDS: readonly GpuCard[] = ROWS.map(([id, name, memoryGb, pool]) => ({
  id,
  name,
  memoryGb,
  pool,
}));

/** The published flex rates, in USD per second of one GPU (wire contract 6.5). `ADA_32_PRO` has none. */
export const SHIPPED_POOL_PRICES: Readonly<Record<string, number>> = {
  AMPERE_16: 0.00016,
  AMPERE_24: 0.00019,
  ADA_24: 0.00031,
  AMPERE_48: 0.00034,
  ADA_48_PRO: 0.00053,
  AMPERE_80: 0.00076,
  ADA_80_PRO: 0.00116,
  BLACKWELL_96: 0.00111,
  HOPPER_141: 0.00155,
  BLACKWELL_180: 0.0024,
};

/** The maker of the card, as far as the name that its driver reports tells. */
export function manufacturerOf(typeId: string): GpuManufacturer {
  if (/^(NVIDIA|Tesla|Quadro|GeForce)\b/i.test(typeId)) return 'NVIDIA';
  return /^(AMD|Radeon)\b/i.test(typeId) ? 'AMD' : 'UNKNOWN';
}

/** @param pricesOfPools USD per second of one GPU, by pool */
export function describeCard(card: GpuCard, pricesOfPools: ReadonlyMap<string, number>): GpuType {
  const { id, pool, reportedAs = [] } = card;
  const makers = [id, ...reportedAs].map(manufacturerOf);
  return {
    ...card,
    manufacturer: makers.find((maker) => maker !== 'UNKNOWN') ?? 'UNKNOWN',
    serverlessUsdPerSecond: pool === null ? null : (pricesOfPools.get(pool) ?? null),
  };
}
