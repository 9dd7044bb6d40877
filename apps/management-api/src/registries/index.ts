export { RegistriesService } from './registries-service.js';
export { RegistriesController } from './registries.controller.js';
export { RegistriesStore } from './registries.store.js';
export { RegistryCredentialsService, type SealedRegistry } from './registry-credentials-service.js';
