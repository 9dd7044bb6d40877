import { OTHER_ENDPOINTS, type QueueSeries } from '@berth/domain';
import { LONG_SECONDS_BUCKETS, SECONDS_BUCKETS, type MetricRegistry } from '@berth/telemetry';
import { COUNTED_OUTCOMES } from './endpoint-series/counted-outcomes.js';
import { TOLD_EVENTS } from './logs/told-events.js';

export const ownerMetrics = (metrics: MetricRegistry) => ({
  answers: metrics.counter({
    name: 'berth_router_owner_answers_total',
    help: 'Questions that came by message to this router as owner of a log, by verb and by what was said.',
    labels: ['verb', 'outcome'],
  }),
  answerSeconds: metrics.histogram({
    name: 'berth_router_owner_answer_seconds',
    help: 'Time from a question to its answer; takes, which are held, are left out.',
    labels: ['verb'],
    buckets: SECONDS_BUCKETS,
  }),
  claims: metrics.counter({
    name: 'berth_router_shard_claims_total',
    help: 'What was decided about claims of shards, and what came of it.',
    labels: ['decision', 'outcome'],
  }),
  endpoints: metrics.counter<'event'>({
    name: 'berth_router_endpoint_logs_total',
    help: 'Logs of endpoints that were opened and closed, stopped until somebody looks, or for which no broker answered.',
    labels: ['event'],
    values: { event: TOLD_EVENTS },
  }),
  openingSeconds: metrics.histogram({
    name: 'berth_router_endpoint_log_opening_seconds',
    help: 'Time that it took to read the log of an endpoint and to own it.',
    buckets: SECONDS_BUCKETS,
  }),
  unreadPurges: metrics.counter({
    name: 'berth_router_log_unread_purges_total',
    help: 'Purges of logs that did not wait any longer for the job history: what it has not read is missing there.',
    labels: ['reason'],
  }),
  emptied: metrics.counter({
    name: 'berth_router_deleted_endpoints_emptied_total',
    help: 'Endpoints that were deleted, and of which nothing is left but that.',
  }),
  removals: metrics.counter({
    name: 'berth_router_leftover_removals_total',
    help: 'Removals of payload parts and chunks that are needed no more. What is not removed goes by its time to live.',
    labels: ['outcome'],
  }),
  failedTraces: metrics.counter({
    name: 'berth_failed_job_traces_total',
    help: 'Traces of jobs that failed: recorded, dropped since too many failed at once, or not made since a log was not read.',
    labels: ['outcome'],
    values: { outcome: ['recorded', 'dropped', 'unread'] },
  }),
});

export type OwnerMetrics = ReturnType<typeof ownerMetrics>;

/** Of the busiest endpoints one by one, and of all others together. Only the owner of an endpoint counts. */
export const endpointMetrics = (metrics: MetricRegistry) => ({
  ended: metrics.counter<'endpoint' | 'outcome'>({
    name: 'berth_router_endpoint_jobs_ended_total',
    help: 'Jobs that ended, by endpoint and outcome; `_other`: those of endpoints without series of their own.',
    labels: ['endpoint', 'outcome'],
    values: { endpoint: [OTHER_ENDPOINTS], outcome: COUNTED_OUTCOMES },
  }),
  execution: metrics.histogram<'endpoint'>({
    name: 'berth_router_endpoint_execution_seconds',
    help: 'How long the attempt ran with which a job ended, by endpoint.',
    labels: ['endpoint'],
    values: { endpoint: [OTHER_ENDPOINTS] },
    buckets: LONG_SECONDS_BUCKETS,
  }),
});

export type EndpointMetrics = ReturnType<typeof endpointMetrics>;

export function queueGauges(metrics: MetricRegistry, read: () => readonly QueueSeries[]): void {
  const gauge = (name: string, help: string, valueOf: (series: QueueSeries) => number): void => {
    metrics.gaugesOf({ name, help, labels: ['endpoint'] }, () =>
      read().map((series) => ({ labels: { endpoint: series.endpoint }, value: valueOf(series) })),
    );
  };
  const [waiting, running] = ['berth_router_endpoint_jobs_waiting', 'berth_router_endpoint_jobs_running'];
  gauge(
    waiting,
    'Jobs that wait, by endpoint; `_other`: of endpoints without series of their own.',
    (of) => of.waiting,
  );
  gauge(running, 'Jobs that run, by endpoint.', (of) => of.running);
  gauge(
    'berth_router_endpoint_oldest_wait_seconds',
    'How long the normal job waits that waits longest, by endpoint; 0: none does.',
    ({ oldestWaitMs }) => oldestWaitMs / 1000,
  );
}

interface Gauged {
  readonly server: { readonly inFlight: number };
  readonly takes: { readonly waiting: number };
  readonly watchers: { readonly size: number };
  readonly removals: { readonly waiting: number };
  readonly payloads: { readonly rememberedBytes: number };
  readonly ownedShards: () => number;
  readonly unownedShards: () => number;
}

export function ownerGauges(metrics: MetricRegistry, gauged: Gauged): void {
  const { ownedShards, payloads, removals, server, takes, unownedShards, watchers } = gauged;
  const gauge = (name: string, help: string, read: () => number): void => metrics.gaugeOf({ name, help }, read);
  gauge('berth_router_shards_owned', 'Shards of logs that this router owns.', ownedShards);
  gauge('berth_router_shards_unowned', 'Shards of logs that nobody is known to own.', unownedShards);
  gauge('berth_router_takes_waiting', 'Workers that wait here for a job.', () => takes.waiting);
  gauge(
    'berth_router_owner_questions_in_flight',
    'Questions of other routers that are not answered yet.',
    () => server.inFlight,
  );
  gauge('berth_router_watchers', 'Routers that wait for news of jobs whose logs are owned here.', () => watchers.size);
  gauge('berth_router_removals_waiting', 'Removals beside the logs that wait.', () => removals.waiting);
  gauge('berth_router_batches_remembered_bytes', 'Batches of logs in memory.', () => payloads.rememberedBytes);
}
