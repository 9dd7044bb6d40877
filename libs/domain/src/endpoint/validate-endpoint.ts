import type { CpuRequest, GpuRequest } from '../hardware-request/index.js';
import { hasIdleTimeout } from './defaults.js';
import type { EndpointType, LoadBalancerAccess, Scaling } from './endpoint.js';
import { failure, type FieldFailure } from './field-failure.js';

/** The subject of the rules: the spec as it would be after the request. Each field alone is valid already. */
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
  readonly loadBalancer?: LoadBalancerAccess;
}

/** The rules between fields (API decisions 1.3, group 3). Empty when all hold. */
export function checkEndpointRules(draft: EndpointDraft): readonly FieldFailure[] {
  return [
    ...checkCompute(draft),
    ...checkCudaRules(draft.gpu),
    ...checkScaling(draft),
    ...checkWorkers(draft),
    ...checkAccess(draft),
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

const checkAccess = ({ type, loadBalancer }: EndpointDraft): readonly FieldFailure[] =>
  type === 'QUEUE' && loadBalancer !== undefined
    ? [failure('$.loadBalancer', "applies to a 'LOAD_BALANCER' endpoint only; omit it")]
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
