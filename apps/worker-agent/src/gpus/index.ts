export { GpuLedger } from './gpu-ledger.js';
export { HostInventory } from './host-inventory.js';
export { parseSimulatedGpus, type SimulatedGpus } from './simulated-gpus.js';
