import type { MetricRegistry } from '@berth/telemetry';

export const rateLimitMetrics = (metrics: MetricRegistry) => ({
  unchecked: metrics.counter({
    name: 'berth_management_rate_limit_unchecked_total',
    help: 'Requests that were let through because their rate limit could not be checked.',
  }),
});
