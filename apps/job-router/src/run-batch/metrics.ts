import type { MetricRegistry } from '@berth/telemetry';

export const batchMetrics = (metrics: MetricRegistry) => ({
  batches: metrics.counter({
    name: 'berth_router_batches_total',
    help: 'Lists of jobs of which at least one was accepted.',
  }),
  rejected: metrics.counter({
    name: 'berth_router_batch_rejected_total',
    help: 'Jobs of such lists that could not be stored.',
  }),
});

export type BatchMetrics = ReturnType<typeof batchMetrics>;
