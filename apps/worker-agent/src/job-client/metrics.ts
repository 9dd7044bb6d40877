import { SECONDS_BUCKETS, type MetricRegistry } from '@berth/telemetry';

export const jobClientMetrics = (metrics: MetricRegistry) => ({
  taken: metrics.counter({ name: 'berth_agent_jobs_taken_total', help: 'Attempts that routers gave to this host.' }),
  takeFailures: metrics.counter({ name: 'berth_agent_take_failures_total', help: 'Takes that no router answered.' }),
  givenBack: metrics.counter({
    name: 'berth_agent_jobs_given_back_total',
    help: 'Attempts returned before a worker started them.',
  }),
  stops: metrics.counter({
    name: 'berth_agent_job_stops_total',
    help: 'Attempts stopped before their worker had finished, by reason.',
    labels: ['reason'],
  }),
  endings: metrics.counter({
    name: 'berth_agent_attempts_ended_total',
    help: 'Attempts by how they ended on this host.',
    labels: ['kind'],
  }),
  reports: metrics.counter({
    name: 'berth_agent_reports_total',
    help: 'Results that a router acknowledged, by its answer.',
    labels: ['outcome'],
  }),
  reportFailures: metrics.counter({
    name: 'berth_agent_report_failures_total',
    help: 'Chunks, parts and results that had to be sent again.',
  }),
  renewFailures: metrics.counter({
    name: 'berth_agent_renew_failures_total',
    help: 'Renewals that no router answered.',
  }),
  reportSeconds: metrics.tracedHistogram({
    name: 'berth_agent_report_seconds',
    help: 'From the worker having its answer to the router having the result.',
    buckets: SECONDS_BUCKETS,
  }),
});

export type JobClientMetrics = ReturnType<typeof jobClientMetrics>;

/** Attempts held now, asked for when the metrics are read. */
export const heldAttemptsMetric = (metrics: MetricRegistry, held: () => number): void => {
  metrics.gaugeOf({ name: 'berth_agent_attempts_held', help: 'Attempts whose end no router has acknowledged.' }, held);
};
