export { ImageRegistry, type RegistryLogin, type RegistryRequest } from './image-registry.js';
export { makeSmallImage } from './make-small-image.js';
export { readSavedImage, type SavedImage } from './saved-image.js';
export {
  useContainerEngine,
  type ContainerEngineFixture,
  type UseContainerEngineOptions,
} from './use-container-engine.js';
