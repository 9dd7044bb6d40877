export { UsageLoop } from './usage-loop.js';
export { UsageStore } from './usage.store.js';
export { endRunsOf, endRunsOfHost, noteRuns, type WorkerRunChange } from './worker-runs.js';
