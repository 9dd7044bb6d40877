import type { MetricRegistry } from '@berth/telemetry';

export const workerLogMetrics = (metrics: MetricRegistry, open: () => number): void => {
  metrics.gaugeOf({ name: 'berth_management_log_streams', help: 'Logs of workers that are read at the moment.' }, open);
};
