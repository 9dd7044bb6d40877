import type { MetricRegistry } from '@berth/telemetry';

export const requestsMetrics = (metrics: MetricRegistry) => ({
  degraded: metrics.counter<'reason'>({
    name: 'berth_router_requests_degraded_total',
    help: 'Answers of /requests without a complete history: it did not answer, or was behind.',
    labels: ['reason'],
  }),
});

export type RequestsMetrics = ReturnType<typeof requestsMetrics>;
