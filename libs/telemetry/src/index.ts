export { LOG_LEVELS, createLogger, silentLogger, type LogFields, type Logger } from './logging/logger.js';
export { addToLogContext, currentLogContext, runWithLogContext, type LogContext } from './logging/log-context.js';
export { readLogSettings, type LogSettings } from './logging/read-log-settings.js';
export { NestLogger } from './logging/nest-logger.js';
export { MetricRegistry, SECONDS_BUCKETS } from './metrics/metric-registry.js';
export { OperationsServer } from './operations/operations-server.js';
export { Readiness } from './operations/readiness.js';
export { findRefusal } from './process-main/refusal.js';
export { openProcess, type OpenProcess, type ProcessParts } from './process-main/open-process.js';
export { runMain, type Main } from './process-main/run-main.js';
export { StartupError, listenError } from './process-main/startup-error.js';
export {
  continueTrace,
  formatTraceparent,
  parseTraceparent,
  startTrace,
  type TraceContext,
} from './tracing/traceparent.js';
