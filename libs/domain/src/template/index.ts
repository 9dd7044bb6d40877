export { applyTemplate, type AppliedTemplate, type TemplateOverrides } from './apply-template.js';
export {
  TEMPLATE_CATEGORIES,
  TEMPLATE_SOURCES,
  templateAsSeenBy,
  type PersistentMount,
  type Template,
  type TemplateCategory,
  type TemplateSource,
  type TemplateSpec,
} from './template.js';
