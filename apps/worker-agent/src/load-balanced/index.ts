export {
  type BalancedNews,
  type BalancedWorker,
  type BalancedWorkers,
  type BalancedWorkerState,
  type WorkerListening,
} from './balanced-worker.js';
export { FreePorts } from './free-ports.js';
export { listeningBy, listeningOnFree, portVariables, portsOf } from './worker-listening.js';
export { InFlightWitness } from './in-flight-witness.js';
export { balancedMetrics } from './metrics.js';
export { LocalWorkerLink } from './local-worker-link.js';
