import type { MetricRegistry } from '@berth/telemetry';

export const requestBodyMetrics = (metrics: MetricRegistry) => ({
  unread: metrics.counter({
    name: 'berth_router_bodies_unread_total',
    help: 'Large bodies that could not be read, by the sign: time, died or closed.',
    labels: ['sign'],
  }),
});
