export { composeRuntime, RUNTIMES, runtimeOf, type RuntimeConfig } from './compose-runtime.js';
export {
  OWN_MACHINE,
  type ContainerRuntime,
  type ContainerStart,
  type ImageRequest,
  type OwnedContainer,
  type PrintedBatch,
  type PrepareOptions,
} from './container-runtime.port.js';
export { type MachineGpus } from './machine/gpu-device.js';
export { type Reserve } from './machine/reserve.js';
export { parseSimulatedGpus } from './machine/simulated-gpus.js';
export { type RuntimeBridge, type OnRemoving, type OpenRuntime } from './open-runtime.js';
export { RuntimeError, type RuntimeErrorReason } from './runtime-error.js';
