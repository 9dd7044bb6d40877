import type { MetricRegistry } from '@berth/telemetry';

/** @param open requests that are under way */
export function openAiMetrics(metrics: MetricRegistry, open: () => number) {
  metrics.gaugeOf(
    { name: 'berth_router_openai_open_requests', help: 'Requests of OpenAI clients that are under way.' },
    open,
  );
  return {
    requests: metrics.counter({
      name: 'berth_router_openai_requests_total',
      help: 'Requests of OpenAI clients, by the form of their answer and what came of them.',
      labels: ['form', 'outcome'],
    }),
  };
}

export type OpenAiMetrics = ReturnType<typeof openAiMetrics>;
