import { SECONDS_BUCKETS, type MetricRegistry } from '@berth/telemetry';

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
  healthChanges: metrics.counter<'standing'>({
    name: 'agent_balanced_health_changes_total',
    help: 'Times that a load-balanced worker came to stand otherwise: in, initializing, out.',
    labels: ['standing'],
  }),
  connect: metrics.histogram({
    name: 'agent_balanced_connect_seconds',
    help: 'From the admission of a request until its worker took the connection.',
    buckets: SECONDS_BUCKETS,
  }),
});

export type BalancedMetrics = ReturnType<typeof balancedMetrics>;
