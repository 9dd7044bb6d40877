import type { MetricRegistry } from '../metrics/metric-registry.js';

export const spanMetrics = (metrics: MetricRegistry) => ({
  spans: metrics.counter({
    name: 'berth_trace_spans_total',
    help: 'Steps of traces: sent, failed at the collector, or dropped since too many waited or the process was stopping.',
    labels: ['outcome'],
    values: { outcome: ['sent', 'failed', 'dropped'] },
  }),
});

export type SpanMetrics = ReturnType<typeof spanMetrics>;
