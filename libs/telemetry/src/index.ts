export { LOG_LEVELS, createLogger, silentLogger, type LogFields, type Logger } from './logging/logger.js';
export { addToLogContext, currentLogContext, runWithLogContext, type LogContext } from './logging/log-context.js';
export { readLogSettings, type LogSettings } from './logging/read-log-settings.js';
export { NestLogger } from './logging/nest-logger.js';
export {
  LONG_SECONDS_BUCKETS,
  MetricRegistry,
  SECONDS_BUCKETS,
  type SeriesReading,
} from './metrics/metric-registry.js';
export { Readiness } from './operations/readiness.js';
export { findRefusal } from './process-main/refusal.js';
export { openProcess, systemProcess, type OpenProcess, type ProcessParts } from './process-main/open-process.js';
export { versionOf } from './process-main/version.js';
export { runMain, type Main } from './process-main/run-main.js';
export { StartupError, listenError } from './process-main/startup-error.js';
export { duringStep } from './tracing/during-step.js';
export { NO_TRACES } from './tracing/no-traces.js';
export { readTraceSettings, type TraceSettings } from './tracing/read-trace-settings.js';
export { RecordedTraces } from './tracing/recorded-traces.js';
export { formatTraceparent, isRecorded, loggedTrace, parseTraceparent } from './tracing/traceparent.js';
export { type Span, type Step, type TracePlace, type Traces } from './tracing/traces.port.js';
