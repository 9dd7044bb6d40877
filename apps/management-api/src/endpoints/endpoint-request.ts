import type { EndpointDraft, EndpointPatch, EndpointSpec, TemplateOverrides } from '@berth/domain';

/** A create, in whatever form it came. Each field alone is valid. */
export interface EndpointRequest extends Pick<
  EndpointSpec,
  'name' | 'dataCenterIds' | 'networkVolumeIds' | 'flashboot' | 'executionTimeoutMs'
> {
  readonly draft: EndpointDraft;
  readonly templateId: string | undefined;
  /** The container as far as the request says it. */
  readonly overrides: TemplateOverrides;
}

/** An update. */
export interface EndpointChange {
  readonly patch: Omit<EndpointPatch, 'container'>;
  readonly templateId: string | undefined;
  /** The container as far as the request says it. */
  readonly overrides: TemplateOverrides;
}
