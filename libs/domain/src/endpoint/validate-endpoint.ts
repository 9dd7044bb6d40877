import { CPU_FLAVORS, cpuFlavorById, GPU_POOLS, selectGpu, type CpuRequest, type GpuRequest } from '../gpu/index.js';
import { hasIdleTimeout } from './defaults.js';
import type { EndpointType, Scaling } from './endpoint.js';

/** One rule that a request breaks. */
export interface FieldFailure {
  /** `$` and the path of the field in the request's own words, as `$.gpu.excludedTypes[0]`. */
  readonly path: string;
  /** A sentence without its full stop that says what to change. */
  readonly reason: string;
}

/** What the rules look at: the spec as it would be after the request. Each field alone is valid already. */
export interface EndpointDraft {
  readonly type: EndpointType;
  readonly gpu: GpuRequest | null;
  readonly cpu: readonly CpuRequest[] | null;
  readonly scaling: Scaling;
  readonly workers: {
    readonly min: number;
    readonly max: number;
    /** Null where the request itself says none, even if one is stored. */
    readonly idleTimeoutSeconds: number | null;
  };
}

/** `$.path: reason`, as the `errors` of an answer list them. */
export const describeFailures = (failures: readonly FieldFailure[]): readonly string[] =>
  failures.map(({ path, reason }) => `${path}: ${reason}`);

/** The rules between fields (decisions, "Order of checks", 3). Empty when all hold. */
export function checkEndpointRules(draft: EndpointDraft): readonly FieldFailure[] {
  return [...checkCompute(draft), ...checkCudaRules(draft.gpu), ...checkScaling(draft), ...checkWorkers(draft)];
}

/** What the request names in the catalogs (decisions, "Order of checks", 4). Empty when everything exists and fits. */
export function checkEndpointReferences(draft: Pick<EndpointDraft, 'gpu' | 'cpu'>): readonly FieldFailure[] {
  return [
    ...(draft.gpu === null ? [] : checkGpuSelection(draft.gpu)),
    ...(draft.cpu ?? []).flatMap((config, index) => checkFlavor(config, index)),
  ];
}

const checkCompute = ({ gpu, cpu }: EndpointDraft): readonly FieldFailure[] => {
  if (gpu !== null && cpu !== null) return [failure('$', "send either 'gpu' or 'cpu', not both")];
  if (gpu === null && cpu === null) return [failure('$', "send one of 'gpu' and 'cpu'")];
  return [];
};

const checkCudaRules = (gpu: GpuRequest | null): readonly FieldFailure[] =>
  gpu !== null && gpu.allowedCudaVersions.length > 0 && gpu.minCudaVersion !== null
    ? [failure('$.gpu', "send either a non-empty 'allowedCudaVersions' or 'minCudaVersion', not both")]
    : [];

const checkScaling = ({ type, scaling }: EndpointDraft): readonly FieldFailure[] =>
  type === 'LOAD_BALANCER' && scaling.type !== 'REQUEST_COUNT'
    ? [failure('$.scaling.type', "a 'LOAD_BALANCER' endpoint scales on 'REQUEST_COUNT' only")]
    : [];

function checkWorkers({ type, scaling, workers }: EndpointDraft): readonly FieldFailure[] {
  const failures: FieldFailure[] = [];
  if (workers.min > workers.max) {
    failures.push(failure('$.workers.min', `must not be above 'max', which is ${workers.max}, but is ${workers.min}`));
  }
  if (workers.idleTimeoutSeconds !== null && !hasIdleTimeout(type, scaling)) {
    failures.push(
      failure('$.workers.idleTimeout', "does not apply to a 'QUEUE' endpoint that scales on 'REQUEST_COUNT'; omit it"),
    );
  }
  return failures;
}

function checkGpuSelection(gpu: GpuRequest): readonly FieldFailure[] {
  const { candidates, unknownPools, strayExclusions } = selectGpu(gpu);
  const failures = [
    ...unknownPools.map((pool) =>
      failure(
        itemPath('$.gpu.pools', gpu.pools, pool),
        `unknown GPU pool '${pool}'; known are ${GPU_POOLS.join(', ')}`,
      ),
    ),
    ...strayExclusions.map((typeId) =>
      failure(
        itemPath('$.gpu.excludedTypes', gpu.excludedTypes, typeId),
        `'${typeId}' is no GPU type of the chosen pools (${gpu.pools.join(', ')})`,
      ),
    ),
  ];
  if (failures.length > 0 || candidates.length > 0) return failures;
  return [failure('$.gpu.excludedTypes', 'excludes every GPU type of the chosen pools; keep at least one')];
}

function checkFlavor({ flavorId, vcpuCount }: CpuRequest, index: number): readonly FieldFailure[] {
  const flavor = cpuFlavorById(flavorId);
  if (flavor === undefined) {
    const known = CPU_FLAVORS.map(({ id }) => id).join(', ');
    return [failure(`$.cpu[${index}].id`, `unknown CPU flavor '${flavorId}'; known are ${known}`)];
  }
  if (vcpuCount >= flavor.vcpuMin && vcpuCount <= flavor.vcpuMax) return [];
  const range = `${flavor.vcpuMin} to ${flavor.vcpuMax}`;
  return [failure(`$.cpu[${index}].vcpuCount`, `'${flavorId}' has ${range} vCPU, not ${vcpuCount}`)];
}

const itemPath = (list: string, items: readonly string[], item: string): string => `${list}[${items.indexOf(item)}]`;

const failure = (path: string, reason: string): FieldFailure => ({ path, reason });
