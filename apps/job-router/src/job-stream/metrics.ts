import type { MetricRegistry } from '@berth/telemetry';
import type { BodyBudget, StreamedAnswers } from '@berth/http';

export function streamMetrics(metrics: MetricRegistry, answers: StreamedAnswers, budget: BodyBudget): void {
  metrics.gaugeOf(
    { name: 'berth_router_streamed_answers', help: 'Answers that are written piece by piece at the moment.' },
    () => answers.open,
  );
  metrics.gaugeOf(
    { name: 'berth_router_streamed_answers_bytes', help: 'Large pieces of them that readers have not taken yet.' },
    () => budget.takenBytes,
  );
}
