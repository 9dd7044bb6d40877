export { WORKERS_NAMESPACE, giveAgentAccess } from './give-agent-access.js';
export { ImageRegistry } from './image-registry.js';
export { makeSmallImage } from './make-small-image.js';
export { saveImage } from './save-image.js';
export { type SavedImage } from './saved-image.js';
export { useCluster, type ClusterFixture } from './use-cluster.js';
export { useContainerEngine, type ContainerEngineFixture } from './use-container-engine.js';
