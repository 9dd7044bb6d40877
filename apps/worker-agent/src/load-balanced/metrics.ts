import type { MetricRegistry } from '@berth/telemetry';

export const balancedMetrics = (metrics: MetricRegistry) => ({
  requests: metrics.counter<'outcome'>({
    name: 'agent_balanced_requests_total',
    help: 'Requests for load-balanced workers, by outcome: admitted, or why not.',
    labels: ['outcome'],
  }),
  untold: metrics.counter({
    name: 'agent_demand_untold_total',
    help: 'Messages of what is in flight that could not be sent.',
  }),
  checks: metrics.counter<'outcome'>({
    name: 'agent_health_checks_total',
    help: 'Health checks of load-balanced workers, by outcome.',
    labels: ['outcome'],
  }),
});

export type BalancedMetrics = ReturnType<typeof balancedMetrics>;
