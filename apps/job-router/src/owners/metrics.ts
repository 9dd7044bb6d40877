import type { MetricRegistry } from '@berth/telemetry';

export const questionMetrics = (metrics: MetricRegistry) => ({
  questions: metrics.counter({
    name: 'berth_router_owner_questions_total',
    help: 'Questions to the owners of logs, by verb and by what came of them; `here`: this router was the owner.',
    labels: ['verb', 'outcome'],
  }),
  tries: metrics.counter({
    name: 'berth_router_owner_tries_failed_total',
    help: 'Times that a question was asked and not answered, so that it was asked again, by verb and cause.',
    labels: ['verb', 'cause'],
  }),
});

export type QuestionMetrics = ReturnType<typeof questionMetrics>;
