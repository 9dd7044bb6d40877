import type { MetricRegistry } from '../metrics/metric-registry.js';

export const buildMetrics = (metrics: MetricRegistry) => ({
  info: metrics.gauge<'process' | 'version' | 'node'>({
    name: 'berth_build_info',
    help: '1; its labels say which program this is, of which version, and what it runs in.',
    labels: ['process', 'version', 'node'],
  }),
});
