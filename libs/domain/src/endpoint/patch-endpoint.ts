import { fieldChanges, type FieldChange } from '../changes/index.js';
import type { HardwareCatalog } from '../hardware-catalog/index.js';
import type { CpuRequest, GpuRequest } from '../hardware-request/index.js';
import { checkCatalogs } from './check-catalogs.js';
import { ENDPOINT_DEFAULTS, resolveWorkerRange } from './defaults.js';
import { endpointFields, makesRelease } from './endpoint-fields.js';
import type { ContainerSpec, EndpointSettings, EndpointSpec, LoadBalancerAccess, Scaling } from './endpoint.js';
import { failure, type FieldFailure } from './field-failure.js';
import { checkEndpointRules } from './validate-endpoint.js';

/** `undefined`: the request says nothing of it, and it stays. */
type Partly<Fields> = { readonly [Name in keyof Fields]?: Fields[Name] | undefined };

/** The settings of an endpoint that a request changes. Each field alone is valid already. */
export interface EndpointPatch extends Partly<Omit<EndpointSettings, 'loadBalancer'>> {
  /** A template's container, where one is applied, with the request's own fields over it. */
  readonly container?: Partly<ContainerSpec> | undefined;
  /** Pools without exclusions clear these; exclusions never come alone. */
  readonly gpu?: Partly<Omit<GpuRequest, 'preferredTypes'>> | undefined;
  readonly cpu?: readonly CpuRequest[] | undefined;
  readonly scaling?: Scaling | undefined;
  readonly workers?: Partly<{ min: number; max: number; idleTimeoutSeconds: number }> | undefined;
  readonly loadBalancer?: Partly<LoadBalancerAccess> | undefined;
}

export type PatchedEndpoint =
  /** The first group of rules that does not hold: between fields, then against the catalogs. */
  | { readonly kind: 'refused'; readonly failures: readonly FieldFailure[] }
  | {
      readonly kind: 'patched';
      readonly spec: EndpointSpec;
      /** The differences, in the words of the interface; empty: there is none. */
      readonly diff: readonly FieldChange[];
      /** The part of `diff` that workers are made of; empty: no release. */
      readonly releaseDiff: readonly FieldChange[];
    };

/**
 * The endpoint with the request's fields over it (wire contract 5.3). Its type stays, and whether it runs on GPUs or
 * CPUs; the idle timeout goes and comes back with the scaler. The same patch once more changes nothing.
 */
export function patchEndpoint(spec: EndpointSpec, patch: EndpointPatch, catalog: HardwareCatalog): PatchedEndpoint {
  const patched = withPatch(spec, patch);
  const failures = firstFailing(
    [...checkFamily(spec, patch), ...checkRules(patched, patch)],
    checkCatalogs(
      {
        gpu: patch.gpu === undefined ? null : patched.gpu,
        cpu: patch.cpu === undefined ? null : patched.cpu,
      },
      catalog,
    ),
  );
  if (failures.length > 0) return { kind: 'refused', failures };
  const diff = fieldChanges(endpointFields(spec, catalog), endpointFields(patched, catalog));
  return { kind: 'patched', spec: patched, diff, releaseDiff: diff.filter(({ field }) => makesRelease(field)) };
}

function withPatch(spec: EndpointSpec, patch: EndpointPatch): EndpointSpec {
  const { container = {}, cpu, gpu = {}, loadBalancer, workers = {}, ...rest } = patch;
  const laid = laidOver(spec, rest);
  return {
    ...laid,
    container: laidOver(spec.container, container),
    workers: resolveWorkerRange(laid, laidOver(spec.workers, workers)),
    gpu: spec.gpu === null ? null : patchGpu(spec.gpu, gpu),
    cpu: spec.cpu === null ? null : (cpu ?? spec.cpu),
    ...(loadBalancer === undefined ? {} : { loadBalancer: patchAccess(spec, loadBalancer) }),
  };
}

const patchAccess = (spec: EndpointSpec, said: Partly<LoadBalancerAccess>): LoadBalancerAccess =>
  laidOver(spec.loadBalancer ?? ENDPOINT_DEFAULTS.loadBalancer, said);

const patchGpu = (gpu: GpuRequest, patch: NonNullable<EndpointPatch['gpu']>): GpuRequest => ({
  ...patchSelection(gpu, patch),
  count: patch.count ?? gpu.count,
  allowedCudaVersions: patch.allowedCudaVersions ?? gpu.allowedCudaVersions,
  minCudaVersion: patch.minCudaVersion === undefined ? gpu.minCudaVersion : patch.minCudaVersion,
});

type Selection = Pick<GpuRequest, 'pools' | 'excludedTypes' | 'preferredTypes'>;

/** An order of types holds as long as the selection that it orders. */
function patchSelection(gpu: GpuRequest, patch: NonNullable<EndpointPatch['gpu']>): Selection {
  const { excludedTypes, pools, preferredTypes } = gpu;
  const kept = { pools, excludedTypes, ...(preferredTypes === undefined ? {} : { preferredTypes }) };
  if (patch.pools === undefined) return kept;
  const next = { pools: patch.pools, excludedTypes: patch.excludedTypes ?? [] };
  return fieldChanges({ pools, excludedTypes }, next).length === 0 ? kept : next;
}

function laidOver<Fields extends object>(fields: Fields, said: Partly<Fields>): Fields {
  const entries: [string, unknown][] = Object.entries(said);
  return { ...fields, ...Object.fromEntries(entries.filter(([, value]) => value !== undefined)) };
}

const checkFamily = (spec: EndpointSpec, patch: EndpointPatch): readonly FieldFailure[] => [
  ...(patch.gpu === undefined || spec.gpu !== null
    ? []
    : [failure('$.gpu', 'the endpoint runs on CPUs and stays there')]),
  ...(patch.cpu === undefined || spec.cpu !== null
    ? []
    : [failure('$.cpu', 'the endpoint runs on GPUs and stays there')]),
];

const checkRules = (patched: EndpointSpec, patch: EndpointPatch): readonly FieldFailure[] =>
  checkEndpointRules({
    ...patched,
    workers: { ...patched.workers, idleTimeoutSeconds: patch.workers?.idleTimeoutSeconds ?? null },
  }).map((broken) =>
    broken.path === '$.gpu' ? failure('$.gpu', `${broken.reason}; [] or "" clears what is stored`) : broken,
  );

const firstFailing = (...groups: readonly (readonly FieldFailure[])[]): readonly FieldFailure[] =>
  groups.find((group) => group.length > 0) ?? [];
