import type { MetricRegistry } from '@berth/telemetry';

export const jobHistoryMetrics = (metrics: MetricRegistry) => ({
  failures: metrics.counter({
    name: 'controllers_history_failures_total',
    help: 'Passes of the projector of the job history that ended with an error; the next goes on where it was.',
  }),
  rows: metrics.counter<'change'>({
    name: 'controllers_history_rows_total',
    help: 'Rows of the job history that were written or removed.',
    labels: ['change'],
  }),
  leftOut: metrics.counter<'reason'>({
    name: 'controllers_history_left_out_total',
    help: 'Versions of jobs that are not in the history: placeless (too old), ownerless (endpoint gone), unreadable, refused.',
    labels: ['reason'],
  }),
  rereads: metrics.counter({
    name: 'controllers_history_rereads_total',
    help: 'Times that all records were compared with the history.',
  }),
});

export type JobHistoryMetrics = ReturnType<typeof jobHistoryMetrics>;

export function tellLag(metrics: MetricRegistry, lagSeconds: () => number): void {
  const help = 'Age of the instant up to which the leader knows the job history to be complete; 0 in the others.';
  metrics.gaugeOf({ name: 'controllers_history_lag_seconds', help }, lagSeconds);
}
