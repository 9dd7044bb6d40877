import type { MetricRegistry } from '@berth/telemetry';
import type { RateCounters } from './rate-counters.js';

export function rateMetrics(metrics: MetricRegistry, counters: RateCounters) {
  metrics.gaugeOf(
    { name: 'berth_router_rate_counters', help: 'Endpoints and operations of which requests are counted.' },
    () => counters.size,
  );
  metrics.gaugeOf(
    { name: 'berth_router_requests_in_flight', help: 'Requests of job paths that are not answered yet.' },
    () => [...counters.all()].reduce((sum, { inFlightHere }) => sum + inFlightHere, 0),
  );
  return metrics.counter({
    name: 'berth_router_rate_limited_total',
    help: 'Requests that were refused, by operation and by the limit that they met.',
    labels: ['operation', 'by'],
  });
}

export type RateRefusals = ReturnType<typeof rateMetrics>;
