import type { Writable } from 'node:stream';
import { systemClock, systemRandom, type Clock, type Random } from '@berth/lifecycle';
import { createLogger, type Logger } from '../logging/logger.js';
import type { LogSettings } from '../logging/read-log-settings.js';
import { MetricRegistry } from '../metrics/metric-registry.js';
import { OperationsServer } from '../operations/operations-server.js';
import { Readiness } from '../operations/readiness.js';
import { buildMetrics } from './metrics.js';
import { NO_TRACES } from '../tracing/no-traces.js';
import { openTraces, type TracedProcess } from '../tracing/open-traces.js';
import type { Traces } from '../tracing/traces.port.js';
import type { Main } from './run-main.js';
import { versionOf } from './version.js';

/** The parts that a process brings. */
export interface ProcessParts {
  /** What the program is called, as in its log lines. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Called for each part that was started; what was added last is stopped first. */
  readonly onStop: Main['onStop'];
}

/** @param settings `output`: where lines go; standard output when it is not given */
export function systemProcess(
  main: Pick<Main, 'logTo' | 'onStop'>,
  name: string,
  { logFormat, logLevel, output }: LogSettings & { readonly output?: Writable | undefined },
): ProcessParts {
  const logger = createLogger({ name, level: logLevel, format: logFormat, ...(output !== undefined && { output }) });
  main.logTo(logger);
  return { name, clock: systemClock, random: systemRandom, logger, onStop: (part, stop) => main.onStop(part, stop) };
}

/** The things that every part of a running process may use. */
export interface OpenProcess extends ProcessParts {
  readonly metrics: MetricRegistry;
  readonly readiness: Readiness;
  readonly traces: Traces;
  readonly operationsPort: number;
}

/**
 * Opens the operations server before anything else, so that a process that gets no further can be asked why.
 *
 * @param at where the server listens; port 0: any free one. `traces`: where its steps are recorded; absent: nowhere
 * @throws StartupError naming `BERTH_OPERATIONS_PORT` when the port is taken
 */
export async function openProcess(
  parts: ProcessParts,
  { traces: traced, ...at }: { readonly host: string; readonly port: number; readonly traces?: TracedProcess },
): Promise<OpenProcess> {
  const metrics = new MetricRegistry();
  metrics.collectProcess();
  buildMetrics(metrics).info.set({ process: parts.name, version: versionOf(), node: process.versions.node }, 1);
  const readiness = new Readiness(parts.clock);
  const operations = new OperationsServer({ ...at, readiness, metrics });
  const operationsPort = await operations.start();
  parts.onStop('operations server', () => operations.stop());
  const traces = traced === undefined ? NO_TRACES : await openTraces(traced, { ...parts, metrics });
  return { ...parts, metrics, readiness, traces, operationsPort };
}
