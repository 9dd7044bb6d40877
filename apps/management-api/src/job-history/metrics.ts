import type { MetricRegistry } from '@berth/telemetry';

export const jobHistoryMetrics = (metrics: MetricRegistry) => ({
  failures: metrics.counter({
    name: 'berth_controllers_history_failures_total',
    help: 'Passes of the projector of the job history that ended with an error; the next goes on where it was.',
  }),
  rows: metrics.counter({
    name: 'berth_controllers_history_rows_total',
    help: 'Rows of the job history that were written.',
  }),
  leftOut: metrics.counter<'reason'>({
    name: 'berth_controllers_history_left_out_total',
    help: 'Ends of jobs, or batches of logs, that are not in the history: placeless (too old), ownerless (endpoint gone), unreadable, refused.',
    labels: ['reason'],
  }),
  missed: metrics.counter({
    name: 'berth_controllers_history_missed_batches_total',
    help: 'Batches of the logs of endpoints that went before the job history had read them.',
  }),
});

export type JobHistoryMetrics = ReturnType<typeof jobHistoryMetrics>;

export function tellLag(metrics: MetricRegistry, lagSeconds: () => number): void {
  const help = 'Age of the instant up to which the leader knows the job history to be complete; 0 in the others.';
  metrics.gaugeOf({ name: 'berth_controllers_history_lag_seconds', help }, lagSeconds);
}
