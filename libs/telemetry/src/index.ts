export {
  LOG_FORMATS,
  LOG_LEVELS,
  createLogger,
  silentLogger,
  type LogFields,
  type LogFormat,
  type LogLevel,
  type Logger,
  type LoggerOptions,
} from './logging/logger.js';
export { addToLogContext, currentLogContext, runWithLogContext, type LogContext } from './logging/log-context.js';
export { NestLogger } from './logging/nest-logger.js';
export { REDACTED, redact, redactText } from './logging/redact.js';
export {
  MetricRegistry,
  SECONDS_BUCKETS,
  type HistogramDeclaration,
  type MetricDeclaration,
} from './metrics/metric-registry.js';
export { OperationsServer, type OperationsServerOptions } from './operations/operations-server.js';
export { Readiness, type DependencyCheck, type DependencyState, type ReadinessReport } from './operations/readiness.js';
export { findRefusal, type Refusal } from './process-main/refusal.js';
export { runMain, type Main, type ProcessHost, type RunMainOptions } from './process-main/run-main.js';
export { Shutdown } from './process-main/shutdown.js';
export { StartupError, listenError, type ListenAddress } from './process-main/startup-error.js';
export {
  continueTrace,
  formatTraceparent,
  parseTraceparent,
  startTrace,
  type TraceContext,
} from './tracing/traceparent.js';
