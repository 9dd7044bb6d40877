import type { ContainerSpec } from '../endpoint/index.js';
import type { TemplateSpec } from './template.js';

/** The settings of a request beside its `templateId`; undefined where it has none. */
export interface TemplateOverrides {
  readonly image?: string | undefined;
  readonly args?: string | undefined;
  readonly diskGb?: number | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly ports?: readonly string[] | undefined;
  /** Null: none, whatever the template says. */
  readonly registryId?: string | null | undefined;
  /** Only for the create of a GPU endpoint: nothing else takes CUDA versions from a template. */
  readonly gpu?:
    | { readonly allowedCudaVersions?: readonly string[] | undefined; readonly minCudaVersion?: string | undefined }
    | undefined;
}

export interface AppliedTemplate {
  readonly container: ContainerSpec;
  /** Of the GPU request; empty means any. */
  readonly allowedCudaVersions: readonly string[];
}

/**
 * The settings that a request and its template make together (API decisions 3.4): the request's fields win, `env` is
 * merged by key, and the template's CUDA versions are taken over by a GPU request that says nothing of CUDA.
 *
 * @param template as the caller may see it
 */
export const applyTemplate = (
  { allowedCudaVersions, container }: Pick<TemplateSpec, 'allowedCudaVersions' | 'container'>,
  overrides: TemplateOverrides,
): AppliedTemplate => ({
  container: {
    image: overrides.image ?? container.image,
    args: overrides.args ?? container.args,
    diskGb: overrides.diskGb ?? container.diskGb,
    env: { ...container.env, ...overrides.env },
    ports: overrides.ports ?? container.ports,
    registryId: overrides.registryId === undefined ? container.registryId : overrides.registryId,
  },
  allowedCudaVersions: seededVersions(allowedCudaVersions, overrides.gpu),
});

function seededVersions(ofTemplate: readonly string[], gpu: TemplateOverrides['gpu']): readonly string[] {
  if (gpu === undefined) return [];
  // An empty list is a statement too: any version.
  return gpu.allowedCudaVersions ?? (gpu.minCudaVersion === undefined ? ofTemplate : []);
}
