import type { MetricRegistry } from '@berth/telemetry';

export const watchMetrics = (metrics: MetricRegistry) => ({
  unregistered: metrics.counter({
    name: 'router_watches_unregistered_total',
    help: 'Callers that wait for a job whose owner could not be told so at once.',
  }),
  unheard: metrics.counter({
    name: 'router_watches_unheard_total',
    help: 'Callers that wait for a job and hear no notices, since too many wait here.',
  }),
});

export type WatchMetrics = ReturnType<typeof watchMetrics>;
