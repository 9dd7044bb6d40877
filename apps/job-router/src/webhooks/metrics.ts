import type { MetricRegistry } from '@berth/telemetry';
import type { Clock } from '@berth/lifecycle';
import type { PendingDeliveries } from './pending-deliveries.port.js';

export const webhookMetrics = (metrics: MetricRegistry) => ({
  tries: metrics.counter({
    name: 'router_webhook_tries_total',
    help: 'Requests to receivers of webhooks that this router made, by how they ended.',
    labels: ['outcome'],
  }),
  made: metrics.counter({
    name: 'router_webhook_deliveries_mended_total',
    help: 'Deliveries that were missing some seconds after the end of their job. In steady state zero.',
  }),
  postponed: metrics.counter({
    name: 'router_webhook_postponed_total',
    help: 'Times that a due delivery was put off, by why.',
    labels: ['reason'],
  }),
});

export type WebhookMetrics = ReturnType<typeof webhookMetrics>;

export function pendingMetrics(metrics: MetricRegistry, pending: PendingDeliveries, clock: Clock): void {
  metrics.gaugeOf(
    { name: 'router_webhook_pending', help: 'Deliveries that are not over, of all routers.' },
    () => pending.size,
  );
  metrics.gaugeOf(
    { name: 'router_webhook_oldest_seconds', help: 'Age of the oldest delivery that is not over.' },
    () => {
      let oldestMs = clock.nowMs();
      for (const { createdAtMs } of pending.pending()) oldestMs = Math.min(oldestMs, createdAtMs);
      return (clock.nowMs() - oldestMs) / 1000;
    },
  );
}
