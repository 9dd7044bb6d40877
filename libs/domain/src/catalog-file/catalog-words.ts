import {
  COMPLIANCE,
  NETWORK_VOLUME_TYPES,
  REGIONS,
  VCPU_MIN,
  type CpuFlavor,
  type DataCenter,
  type GpuCard,
} from '../hardware-catalog/index.js';
import {
  amountIn,
  trueOrFalse,
  listOfEach,
  textLike,
  nullOr,
  powerOfTwo,
  wordOf,
  type Check,
  type Checks,
} from './checks.js';

const MEMORY_MAX_GB = 16_384;
const RATIO_MAX_GB = 1_024;
const VCPU_LIMIT = 1_024;
const PRICE_MAX_USD = 10_000;
const NAMES_MAX = 16;
const VOLUME_TYPES_MAX = NETWORK_VOLUME_TYPES.length;

const name = textLike(
  'must be a text of 1 to 128 characters, without spaces around it and control characters in it',
  /^(?=.{1,128}$)[^\s\p{C}]([^\p{C}]*[^\s\p{C}])?$/u,
);
const usd = nullOr(amountIn('USD', PRICE_MAX_USD));

/** Whether an id may stand for an entry, by table. A GPU type that began with a dash could not be excluded. */
export const GPU_TYPE_ID: Check = (value) => name(value) ?? textLike('must not begin with a dash', /^[^-]/)(value);
export const POOL_ID = textLike(
  "must consist of letters, digits, '.', '_' and '-', at most 64, and begin with a letter or a digit",
  /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
);
export const FLAVOR_ID = textLike(
  "must consist of letters, digits, '.' and '_', at most 64, and begin with a letter or a digit",
  /^[A-Za-z0-9][A-Za-z0-9._]{0,63}$/,
);

export const GPU_CARD: Checks<Omit<GpuCard, 'id'>> = {
  name,
  memoryGb: amountIn('GB', MEMORY_MAX_GB),
  pool: nullOr(POOL_ID),
  reportedAs: listOfEach(name, NAMES_MAX),
};

/** A pool of the file: it is there as soon as a GPU type is in it, so a price is all that there is to say of it. */
export interface PoolEntry {
  readonly serverlessUsdPerSecond: number | null;
}

export const POOL: Checks<PoolEntry> = { serverlessUsdPerSecond: usd };

export const CPU_FLAVOR: Checks<Omit<CpuFlavor, 'id'>> = {
  name,
  group: name,
  ramGbPerVcpu: amountIn('GB', RATIO_MAX_GB),
  vcpuMin: powerOfTwo(VCPU_MIN, VCPU_LIMIT),
  vcpuMax: powerOfTwo(VCPU_MIN, VCPU_LIMIT),
  podUsdPerHour: usd,
  serverlessUsdPerHour: usd,
};

export const DATA_CENTER: Checks<Omit<DataCenter, 'id'>> = {
  name,
  region: wordOf(REGIONS),
  countryCode: nullOr(textLike('must be two capital letters, as ISO 3166-1 has them', /^[A-Z]{2}$/)),
  hasGlobalNetwork: trueOrFalse,
  networkVolumeTypes: listOfEach(wordOf(NETWORK_VOLUME_TYPES), VOLUME_TYPES_MAX),
  compliance: listOfEach(wordOf(COMPLIANCE), COMPLIANCE.length),
};
