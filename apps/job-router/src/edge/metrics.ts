import type { MetricRegistry } from '@berth/telemetry';

export const watchMetrics = (metrics: MetricRegistry) => ({
  unregistered: metrics.counter({
    name: 'berth_router_watches_unregistered_total',
    help: 'Callers that wait for a job whose owner could not be told so at once.',
  }),
  unheard: metrics.counter({
    name: 'berth_router_watches_unheard_total',
    help: 'Callers that wait for a job and hear no notices, since too many wait here.',
  }),
});

export type WatchMetrics = ReturnType<typeof watchMetrics>;

/** Asked for when the metrics are read. */
export function edgeGauges(
  metrics: MetricRegistry,
  read: { readonly unanswered: () => number; readonly watching: () => number },
): void {
  metrics.gaugeOf(
    {
      name: 'berth_router_owner_questions_unanswered',
      help: 'Questions to the owners of logs that are not answered yet.',
    },
    read.unanswered,
  );
  metrics.gaugeOf(
    { name: 'berth_router_watching_callers', help: 'Callers that wait for news of a job.' },
    read.watching,
  );
}
