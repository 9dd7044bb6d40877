export { CatalogTemplatesController } from './catalog-templates.controller.js';
export {
  ArgsField,
  CudaVersionsField,
  DiskField,
  ENV_BYTES_MAX,
  ENV_KEYS_MAX,
  EnvField,
  ImageField,
  LIST_MAX,
  PortsField,
  RegistryField,
  TEXT_MAX,
} from './container-fields.js';
export { TemplatesService } from './templates-service.js';
export { TemplatesController } from './templates.controller.js';
export { TemplatesStore } from './templates.store.js';
