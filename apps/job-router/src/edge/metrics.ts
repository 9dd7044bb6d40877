import type { MetricRegistry } from '@berth/telemetry';

export const ownerMetrics = (metrics: MetricRegistry) => ({
  questions: metrics.counter({
    name: 'router_owner_questions_total',
    help: 'Questions to the owners of logs, by verb and by what came of them; `here`: this router was the owner.',
    labels: ['verb', 'outcome'],
  }),
  tries: metrics.counter({
    name: 'router_owner_tries_failed_total',
    help: 'Times that a question was asked and not answered, so that it was asked again, by verb and cause.',
    labels: ['verb', 'cause'],
  }),
});

export type OwnerMetrics = ReturnType<typeof ownerMetrics>;

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
