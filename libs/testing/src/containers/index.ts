export { ImageRegistry } from './image-registry.js';
export { makeSmallImage } from './make-small-image.js';
export { type SavedImage } from './saved-image.js';
export { useContainerEngine } from './use-container-engine.js';
