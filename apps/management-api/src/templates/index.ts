export { CatalogTemplatesController } from './catalog-templates.controller.js';
export { TemplatesService } from './templates-service.js';
export { TemplatesController } from './templates.controller.js';
export { TemplatesStore } from './templates.store.js';
