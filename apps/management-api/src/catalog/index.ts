export { CatalogService } from './catalog-service.js';
export { CpuTypesController } from './cpu-types.controller.js';
export { DataCenterAliasesController, DataCentersController } from './data-centers.controller.js';
export { GpuTypesController } from './gpu-types.controller.js';
export { HostLoadsStore } from './host-loads.store.js';
