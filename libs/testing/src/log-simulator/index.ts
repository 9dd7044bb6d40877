export type { Doctor } from './doctor.js';
export { ModelLogBroker } from './model-log-broker.js';
export { simulateLog, type LogSimulation, type LogSimulationOptions } from './simulate-log.js';
