export {
  useContainerEngine,
  type ContainerEngineFixture,
  type UseContainerEngineOptions,
} from './use-container-engine.js';
