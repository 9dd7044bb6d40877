import type { Clock, Random } from '@berth/lifecycle';
import type { MetricRegistry } from '../metrics/metric-registry.js';
import type { Logger } from '../logging/logger.js';
import { spanMetrics } from './metrics.js';
import { NO_TRACES } from './no-traces.js';
import type { TraceSettings } from './read-trace-settings.js';
import { RecordedTraces } from './recorded-traces.js';
import type { Traces } from './traces.port.js';

/** What is told of a process with each of its spans. */
export interface TracedProcess extends TraceSettings {
  readonly process: string;
  readonly instance: string | null;
}

interface TracedParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly onStop: (part: string, stop: () => Promise<void>) => void;
}

/** Where recording is off nothing of the SDK is even loaded; its counts are there, at zero. */
export async function openTraces(
  { instance, otlpEndpoint: endpoint, process, tracedPermille: permille }: TracedProcess,
  { clock, logger, metrics, onStop, random }: TracedParts,
): Promise<Traces> {
  const counted = spanMetrics(metrics);
  if (endpoint === null) return NO_TRACES;
  const { OtlpSpans } = await import('./otlp-spans.js');
  const spans = new OtlpSpans({ endpoint, process, instance, metrics: counted, logger });
  onStop('traces', () => spans.close());
  return new RecordedTraces({ sink: (span) => spans.add(span), clock, random, permille });
}
