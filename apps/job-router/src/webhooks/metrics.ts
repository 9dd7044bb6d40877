import type { MetricRegistry } from '@berth/telemetry';

export const webhookMetrics = (metrics: MetricRegistry) => ({
  tries: metrics.counter({
    name: 'berth_router_webhook_tries_total',
    help: 'Requests to receivers of webhooks that this router made, by how they ended.',
    labels: ['outcome'],
  }),
  postponed: metrics.counter({
    name: 'berth_router_webhook_postponed_total',
    help: 'Times that a due delivery was put off, by why.',
    labels: ['reason'],
  }),
});

export type WebhookMetrics = ReturnType<typeof webhookMetrics>;
