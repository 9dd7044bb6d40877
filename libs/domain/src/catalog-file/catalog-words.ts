import {
  COMPLIANCE,
  NETWORK_VOLUME_TYPES,
  REGIONS,
  VCPU_MIN,
  type CpuFlavor,
  type DataCenter,
  type GpuCard,
} from '../hardware-catalog/index.js';
import { flag, listOf, matching, oneOf, orNull, shapeOf, type Members, type Shape } from '../shape/index.js';

const MEMORY_MAX_GB = 16_384;
const RATIO_MAX_GB = 1_024;
const VCPU_LIMIT = 1_024;
const PRICE_MAX_USD = 10_000;
const NAMES_MAX = 16;
const VOLUME_TYPES_MAX = NETWORK_VOLUME_TYPES.length;

/** Above 0: what has no price or no size says null, where it may. */
const amountIn = (unit: string, max: number): Shape =>
  shapeOf(`a number of ${unit}, above 0 and at most ${max}`, (value) => {
    return typeof value === 'number' && value > 0 && value <= max;
  });

/** Sizes of CPU workers are powers of two. */
const powerOfTwo = (min: number, max: number): Shape =>
  shapeOf(`a power of two from ${min} to ${max}`, (value) => {
    return typeof value === 'number' && value >= min && value <= max && Number.isInteger(Math.log2(value));
  });

const name = matching(
  'a text of 1 to 128 characters, without spaces around it and control characters in it',
  /^(?=.{1,128}$)[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u,
);
const usd = orNull(amountIn('USD', PRICE_MAX_USD));

const undashed = matching('a text that does not begin with a dash', /^[^-]/);

/** Whether an id may stand for an entry, by table. A GPU type that began with a dash could not be excluded. */
export const GPU_TYPE_ID: Shape = (value, path) => name(value, path) ?? undashed(value, path);
export const POOL_ID = matching(
  "made of letters, digits, '.', '_' and '-', at most 64, and begin with a letter or a digit",
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
);
export const FLAVOR_ID = matching(
  "made of letters, digits, '.' and '_', at most 64, and begin with a letter or a digit",
  /^[A-Za-z0-9][A-Za-z0-9._]{0,63}$/,
);

export const GPU_CARD: Members<Omit<GpuCard, 'id'>> = {
  name,
  memoryGb: amountIn('GB', MEMORY_MAX_GB),
  pool: orNull(POOL_ID),
  reportedAs: listOf(name, NAMES_MAX),
};

/** A pool of the file: it is there as soon as a GPU type is in it, so a price is all that there is to say of it. */
export interface PoolEntry {
  readonly serverlessUsdPerSecond: number | null;
}

export const POOL: Members<PoolEntry> = { serverlessUsdPerSecond: usd };

export const CPU_FLAVOR: Members<Omit<CpuFlavor, 'id'>> = {
  name,
  group: name,
  ramGbPerVcpu: amountIn('GB', RATIO_MAX_GB),
  vcpuMin: powerOfTwo(VCPU_MIN, VCPU_LIMIT),
  vcpuMax: powerOfTwo(VCPU_MIN, VCPU_LIMIT),
  podUsdPerHour: usd,
  serverlessUsdPerHour: usd,
};

export const DATA_CENTER: Members<Omit<DataCenter, 'id'>> = {
  name,
  region: oneOf(REGIONS),
  countryCode: orNull(matching('two capital letters, as ISO 3166-1 has them', /^[A-Z]{2}$/)),
  hasGlobalNetwork: flag,
  networkVolumeTypes: listOf(oneOf(NETWORK_VOLUME_TYPES), VOLUME_TYPES_MAX),
  compliance: listOf(oneOf(COMPLIANCE), COMPLIANCE.length),
};
