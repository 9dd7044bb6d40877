import type { MetricRegistry } from '@berth/telemetry';

export const storeMetrics = (metrics: MetricRegistry, fullest: () => number): void => {
  metrics.gaugeOf({ name: 'berth_router_store_fill_ratio', help: 'How full the fullest store of jobs is.' }, fullest);
};
