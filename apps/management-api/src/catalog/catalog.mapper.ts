import type { CpuTypeBody, DataCenterBody, GpuTypeBody } from '@berth/contracts/http';
import type { CpuCatalogEntry, DataCenterCatalogEntry, GpuCatalogEntry } from '@berth/domain';

export function toGpuTypeBody({ isSimulated, maxCount, stock, type }: GpuCatalogEntry): GpuTypeBody {
  const { id, manufacturer, memoryGb, name, pool, serverlessUsdPerSecond } = type;
  return {
    id,
    name,
    pool,
    manufacturer,
    memory: memoryGb,
    secure: maxCount > 0,
    community: false,
    price: {
      secure: null,
      community: null,
      ...(serverlessUsdPerSecond === null ? {} : { serverless: usdPerHour(serverlessUsdPerSecond) }),
    },
    maxCount: { secure: maxCount, community: 0 },
    areGpusSimulated: isSimulated,
    ...(stock === null
      ? {}
      : {
          availability: stock.availability,
          dataCenters: stock.dataCenters,
          cudaVersions: stock.cudaVersions.map(({ isAvailable, version }) => ({ version, available: isAvailable })),
        }),
  };
}

export const toCpuTypeBody = ({ flavor, stock }: CpuCatalogEntry): CpuTypeBody => ({
  id: flavor.id,
  name: flavor.name,
  group: flavor.group,
  vcpu: { min: flavor.vcpuMin, max: flavor.vcpuMax },
  ramGbPerVcpu: flavor.ramGbPerVcpu,
  price: { securePerVcpu: flavor.podUsdPerHour, serverlessPerVcpu: flavor.serverlessUsdPerHour },
  ...(stock === null ? {} : { availability: stock.availability, dataCenters: stock.dataCenters }),
});

export const toDataCenterBody = ({ cpus, dataCenter, gpus }: DataCenterCatalogEntry): DataCenterBody => ({
  id: dataCenter.id,
  name: dataCenter.name,
  region: dataCenter.region,
  globalNetwork: dataCenter.hasGlobalNetwork,
  networkVolumeTypes: dataCenter.networkVolumeTypes,
  compliance: dataCenter.compliance,
  ...(gpus === null ? {} : { gpuAvailability: gpus }),
  ...(cpus === null ? {} : { cpuAvailability: cpus }),
});

const SECONDS_PER_HOUR = 3_600;
const MICRODOLLARS = 1_000_000;

/** Rounded to millionths: the product of two decimals is not one in binary. */
const usdPerHour = (usdPerSecond: number): number =>
  Math.round(usdPerSecond * SECONDS_PER_HOUR * MICRODOLLARS) / MICRODOLLARS;
