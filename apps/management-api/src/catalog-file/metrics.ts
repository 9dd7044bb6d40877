import type { MetricRegistry } from '@berth/telemetry';

export const catalogMetrics = (metrics: MetricRegistry) => ({
  differences: metrics.gauge({
    name: 'berth_catalog_differences',
    help: 'Processes of the control plane that run with another hardware catalog than this one, 20 at most.',
  }),
});
