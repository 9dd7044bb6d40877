import type { MetricRegistry } from '@berth/telemetry';

export const unreadableMetrics = (metrics: MetricRegistry) =>
  metrics.counter({
    name: 'berth_unreadable_messages_total',
    help: 'Records, snapshots and messages that could not be read, each time one was come upon.',
    labels: ['place'],
  });
