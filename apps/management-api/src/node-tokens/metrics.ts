import type { MetricRegistry } from '@berth/telemetry';

export const nodeTokenMetrics = (metrics: MetricRegistry) => ({
  reviews: metrics.counter<'outcome'>({
    name: 'berth_management_token_reviews_total',
    help: 'Tokens of nodes that a cluster was asked about: `good`, `refused`, or `failed` where it did not say.',
    labels: ['outcome'],
  }),
});

export type NodeTokenMetrics = ReturnType<typeof nodeTokenMetrics>;
