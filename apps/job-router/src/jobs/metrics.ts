import type { MetricRegistry } from '@berth/telemetry';

export const jobMetrics = (metrics: MetricRegistry) => ({
  accepted: metrics.counter({
    name: 'berth_router_jobs_accepted_total',
    help: 'Jobs whose record was stored, by the operation that brought them.',
    labels: ['origin'],
  }),
  replayed: metrics.counter({
    name: 'berth_router_replays_total',
    help: 'Requests with an Idempotency-Key that had come before, by operation.',
    labels: ['operation'],
  }),
  cancelled: metrics.counter({
    name: 'berth_router_cancels_total',
    help: 'Answered cancels.',
  }),
  purged: metrics.counter({
    name: 'berth_router_jobs_purged_total',
    help: 'Jobs that callers had removed from queues.',
  }),
});

export type JobMetrics = ReturnType<typeof jobMetrics>;

export const waitMetrics = (metrics: MetricRegistry, waits: () => number): void => {
  metrics.gaugeOf({ name: 'berth_router_waiting_callers', help: 'Callers held until a job ends.' }, waits);
};
