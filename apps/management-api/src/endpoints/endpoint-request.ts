import type { EndpointDraft, EndpointPatch, EndpointSettings, TemplateOverrides } from '@berth/domain';

/** A create, in whatever form it came. Each field alone is valid. */
export interface EndpointRequest {
  readonly settings: EndpointSettings;
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
