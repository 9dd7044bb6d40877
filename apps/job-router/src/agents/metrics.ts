import { SECONDS_BUCKETS, type MetricRegistry } from '@berth/telemetry';

export const gatewayMetrics = (metrics: MetricRegistry) => ({
  taken: metrics.counter({ name: 'berth_router_jobs_taken_total', help: 'Jobs given to workers.' }),
  delay: metrics.tracedHistogram({
    name: 'berth_router_job_delay_seconds',
    help: 'Time from queueing to the take.',
    buckets: SECONDS_BUCKETS,
  }),
  unopened: metrics.counter({
    name: 'berth_router_jobs_unopened_total',
    help: 'Jobs that failed because what their caller gave in confidence could not be opened.',
  }),
  refused: metrics.counter<'fault'>({
    name: 'berth_router_agent_questions_refused_total',
    help: 'Questions of agents that were not handled: their answer may not go there, or their host asks too much.',
    labels: ['fault'],
  }),
  undelivered: metrics.counter({
    name: 'berth_router_jobs_undelivered_total',
    help: 'Jobs queued again because their host was gone when the answer came.',
  }),
  renewals: metrics.counter({
    name: 'berth_router_lease_renewals_total',
    help: 'Renewals of leases, by what came of them.',
    labels: ['outcome'],
  }),
  results: metrics.counter({
    name: 'berth_router_results_total',
    help: 'Ends of attempts that hosts reported, by kind and by what came of them.',
    labels: ['kind', 'outcome'],
  }),
});

export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;
