import type { MetricRegistry } from '@berth/telemetry';
import type { JobView } from './job-view.service.js';

export function viewMetrics(metrics: MetricRegistry, view: JobView, isWhole: () => boolean): void {
  metrics.gaugeOf(
    { name: 'router_jobs_waiting', help: 'Jobs that wait, as this router sees them.' },
    () => view.totals().inQueue,
  );
  metrics.gaugeOf(
    { name: 'router_jobs_running', help: 'Jobs that run, as this router sees them.' },
    () => view.totals().inProgress,
  );
  metrics.gaugeOf({ name: 'router_view_whole', help: '1 while the view of jobs misses nothing.' }, () =>
    isWhole() ? 1 : 0,
  );
}
