import { OTHER_ENDPOINTS } from '@berth/domain';
import { LONG_SECONDS_BUCKETS, type MetricRegistry } from '@berth/telemetry';
import { WORKER_STARTS } from './worker-session/fresh-worker.js';

export const bridgeMetrics = (metrics: MetricRegistry) => ({
  calls: metrics.counter({
    name: 'berth_agent_bridge_calls_total',
    help: 'Requests of workers, by call.',
    labels: ['call'],
  }),
  refused: metrics.counter({
    name: 'berth_agent_bridge_refused_total',
    help: 'Requests that were not served, by reason.',
    labels: ['reason'],
  }),
  delivered: metrics.counter({
    name: 'berth_agent_jobs_delivered_total',
    help: 'Jobs whose delivery was flushed to a worker.',
  }),
  undelivered: metrics.counter({
    name: 'berth_agent_jobs_undelivered_total',
    help: 'Jobs whose worker was gone before it had them.',
  }),
  droppedResults: metrics.counter({
    name: 'berth_agent_results_dropped_total',
    help: 'Results answered with 200 and dropped, by reason.',
    labels: ['reason'],
  }),
  unreadableBodies: metrics.counter({
    name: 'berth_agent_bodies_unreadable_total',
    help: 'Large bodies that the thread which reads them could not read, by how that was noticed.',
    labels: ['sign'],
  }),
  lostByWorker: metrics.counter({
    name: 'berth_agent_jobs_lost_by_worker_total',
    help: 'Jobs that a worker held and no longer knows, or took with it, by how that was noticed.',
    labels: ['sign'],
  }),
  kills: metrics.counter({
    name: 'berth_agent_kills_asked_total',
    help: 'Times that a worker had to be killed to stop a job.',
  }),
  startWaits: metrics.histogram<'endpoint' | 'start'>({
    name: 'berth_agent_endpoint_start_wait_seconds',
    help: 'What jobs waited from queueing to the take, by endpoint and start: cold and resumed, the first jobs of a worker that they waited for; warm, all others.',
    labels: ['endpoint', 'start'],
    values: { endpoint: [OTHER_ENDPOINTS], start: WORKER_STARTS },
    buckets: LONG_SECONDS_BUCKETS,
  }),
});

export type BridgeMetrics = ReturnType<typeof bridgeMetrics>;

/** Asked for when the metrics are read. */
export const bridgeGauges = (
  metrics: MetricRegistry,
  read: { readonly workers: () => number; readonly bodyBytes: () => number },
): void => {
  metrics.gaugeOf({ name: 'berth_agent_bridge_workers', help: 'Workers that the bridge serves.' }, read.workers);
  metrics.gaugeOf(
    { name: 'berth_agent_bridge_body_bytes', help: 'Memory that is set aside for large bodies, in bytes.' },
    read.bodyBytes,
  );
};
