import type { ContainerSpec } from '../endpoint/index.js';
import type { AccountId } from '../ids.js';

export const TEMPLATE_CATEGORIES = ['CPU', 'NVIDIA', 'AMD'] as const;
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number];

/**
 * The party that vouches for a public template: the operator (`official`), the operator for its maker (`verified`), or
 * nobody.
 */
export const TEMPLATE_SOURCES = ['official', 'verified', 'community'] as const;
export type TemplateSource = (typeof TEMPLATE_SOURCES)[number];

/** A disk that outlives the pod's container. Endpoints have none. */
export interface PersistentMount {
  readonly sizeGb: number;
  /** Absolute, inside the container. */
  readonly path: string;
}

/**
 * The settings of a container that a tenant keeps to make endpoints and pods from. Its use copies it: later edits reach
 * nobody.
 */
export interface TemplateSpec {
  readonly name: string;
  readonly container: ContainerSpec;
  readonly persistentMount: PersistentMount | null;
  /** Only a serverless template makes endpoints. */
  readonly isServerless: boolean;
  /** Readable and usable by every account, its environment included. */
  readonly isPublic: boolean;
  readonly source: TemplateSource;
  readonly category: TemplateCategory;
  /** The last two are for pods only. */
  readonly startsSsh: boolean;
  readonly startsJupyter: boolean;
  /** `major.minor`; empty means any. */
  readonly allowedCudaVersions: readonly string[];
}

export interface Template {
  readonly id: string;
  readonly accountId: AccountId;
  readonly spec: TemplateSpec;
  readonly createdAtMs: number;
}

/**
 * The template as an account may know it: its own whole, a foreign public one without the name of credentials that are
 * its maker's, a foreign private one not at all.
 */
export function templateAsSeenBy(accountId: AccountId, template: Template): Template | null {
  if (template.accountId === accountId) return template;
  if (!template.spec.isPublic) return null;
  const container = { ...template.spec.container, registryId: null };
  return { ...template, spec: { ...template.spec, container } };
}
