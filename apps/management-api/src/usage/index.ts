export { UsageController } from './usage.controller.js';
export { UsageLoop } from './usage-loop.js';
export { UsageReportStore } from './usage-report.store.js';
export { UsageService } from './usage-service.js';
export { UsageStore } from './usage.store.js';
export { endRunsOf, endRunsBeforeRestart, endRunsOfHost, noteRuns, type WorkerRunChange } from './worker-runs.js';
