import { isUnreadable, type Job } from '@berth/domain';
import { SECONDS_BUCKETS, type Logger, type MetricRegistry } from '@berth/telemetry';
import type { DispatchObserver } from './dispatcher/endpoint-dispatcher.js';

export const gatewayMetrics = (metrics: MetricRegistry) => ({
  taken: metrics.counter({ name: 'router_jobs_taken_total', help: 'Jobs given to workers.' }),
  delay: metrics.histogram({
    name: 'router_job_delay_seconds',
    help: 'Time from queueing to the take.',
    buckets: SECONDS_BUCKETS,
  }),
  unopened: metrics.counter({
    name: 'router_jobs_unopened_total',
    help: 'Jobs that failed because what their caller gave in confidence could not be opened.',
  }),
  staleTickets: metrics.counter({
    name: 'router_stale_tickets_total',
    help: 'Tickets that spoke of nothing that could be taken any more.',
  }),
  dispatchFailures: metrics.counter({
    name: 'router_dispatch_failures_total',
    help: 'Store failures that a dispatcher met; it goes on.',
  }),
  refused: metrics.counter<'fault'>({
    name: 'router_agent_questions_refused_total',
    help: 'Questions of agents that were not handled: their answer may not go there, or their host asks too much.',
    labels: ['fault'],
  }),
  undelivered: metrics.counter({
    name: 'router_jobs_undelivered_total',
    help: 'Jobs queued again because their host was gone when the answer came.',
  }),
  renewals: metrics.counter({
    name: 'router_lease_renewals_total',
    help: 'Renewals of leases, by what came of them.',
    labels: ['outcome'],
  }),
  results: metrics.counter({
    name: 'router_results_total',
    help: 'Ends of attempts that hosts reported, by kind and by what came of them.',
    labels: ['kind', 'outcome'],
  }),
});

export type GatewayMetrics = ReturnType<typeof gatewayMetrics>;

/** Gauges of what waits at the dispatchers. */
export function dispatcherMetrics(
  metrics: MetricRegistry,
  dispatchers: { readonly waiting: number; readonly active: number },
): void {
  metrics.gaugeOf(
    { name: 'router_waiting_workers', help: 'Workers held until a job comes.' },
    () => dispatchers.waiting,
  );
  metrics.gaugeOf({ name: 'router_dispatchers', help: 'Endpoints that are asked for jobs.' }, () => dispatchers.active);
}

/** Turns what a dispatcher does into metrics and lines. */
export const dispatchObserver = (metrics: GatewayMetrics, logger: Logger): DispatchObserver => ({
  taken: (job: Job) => {
    metrics.taken.inc();
    const { current, queuedAtMs, endpointId, id: jobId, attempt } = job;
    if (current === null) return;
    metrics.delay.observe(Math.max(0, current.startedAtMs - queuedAtMs) / 1_000);
    const { hostId, workerId } = current;
    logger.debug('a job was taken', { endpointId, jobId, attempt, hostId, workerId });
  },
  staleTicket: () => {
    metrics.staleTickets.inc();
  },
  gaveBack: ({ endpointId, id: jobId, attempt, current }) => {
    metrics.undelivered.inc();
    logger.info('a job was queued again: its host was gone', { endpointId, jobId, attempt, hostId: current?.hostId });
  },
  failed: (endpointId, error) => {
    metrics.dispatchFailures.inc();
    // Named once, where it was read.
    if (isUnreadable(error)) return;
    logger.warn('the job store failed a dispatcher', { endpointId, error });
  },
});
