export {
  type ContainerRuntime,
  type ContainerStart,
  type OwnedContainer,
  type PrepareOptions,
} from './container-runtime.port.js';
export { type ConfinementPolicy, readConfinement } from './docker/confinement/confinement-policy.js';
export { DockerRuntime, type DockerRuntimeOptions } from './docker/docker-runtime.js';
export { findEngine } from './docker/engine-access.js';
export { ProcessRuntime } from './process/process-runtime.js';
export { RuntimeError, type RuntimeErrorReason } from './runtime-error.js';
