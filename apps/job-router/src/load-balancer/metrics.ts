import { OTHER_ENDPOINTS } from '@berth/domain';
import { SECONDS_BUCKETS, type MetricRegistry } from '@berth/telemetry';
import { BEGUN_OUTCOMES } from './access/begun-outcomes.js';

/** A request may be held for minutes, and take many more. */
const LONG_SECONDS = [...SECONDS_BUCKETS, 120, 300, 600, 1_800] as const;

export type LoadBalancerMetrics = ReturnType<typeof loadBalancerMetrics>;

/** Of all endpoints together but for their requests: there are too many of them for a label. */
export const loadBalancerMetrics = (metrics: MetricRegistry) => ({
  requestBytes: metrics.counter({
    name: 'berth_router_lb_request_bytes_total',
    help: 'Bytes of bodies, and on WebSockets, that callers sent in requests that are over.',
  }),
  answerBytes: metrics.counter({
    name: 'berth_router_lb_answer_bytes_total',
    help: 'Bytes of bodies, and on WebSockets, that workers sent in requests that are over.',
  }),
  unlogged: metrics.counter({
    name: 'berth_router_lb_unlogged_total',
    help: 'Requests that should have been logged, where there were too many.',
  }),
  requests: metrics.counter<'endpoint' | 'outcome'>({
    name: 'berth_router_lb_requests_total',
    help: 'Load-balanced requests that are over: class of status, websocket, caller-gone, or problem; `_other`: of all other endpoints, or none.',
    labels: ['endpoint', 'outcome'],
    values: { endpoint: [OTHER_ENDPOINTS], outcome: BEGUN_OUTCOMES },
  }),
  refusals: metrics.counter({
    name: 'berth_router_lb_refusals_total',
    help: 'Times that a worker did not take a request, of which no byte had reached it.',
    labels: ['reason'],
  }),
  ejections: metrics.counter({
    name: 'berth_router_lb_ejections_total',
    help: 'Workers that were left out for a while, for their connect errors.',
  }),
  held: metrics.tracedHistogram({
    name: 'berth_router_lb_held_seconds',
    help: 'From when a request might go to a worker until one had it.',
    buckets: LONG_SECONDS,
  }),
  connect: metrics.histogram({
    name: 'berth_router_lb_connect_seconds',
    help: 'From the question to a worker until it had the request.',
    buckets: SECONDS_BUCKETS,
  }),
  firstByte: metrics.tracedHistogram({
    name: 'berth_router_lb_first_byte_seconds',
    help: 'From when a worker had the request until the head of its answer.',
    buckets: LONG_SECONDS,
  }),
  total: metrics.tracedHistogram({
    name: 'berth_router_lb_total_seconds',
    help: 'From the head of a request until all was over, but for WebSockets.',
    buckets: LONG_SECONDS,
  }),
});

/** Asked for when the metrics are read. */
export interface LoadBalancerReadings {
  readonly held: () => number;
  readonly inFlight: () => number;
  readonly openSockets: () => number;
}

export function loadBalancerGauges(
  metrics: MetricRegistry,
  { held, inFlight, openSockets }: LoadBalancerReadings,
): void {
  metrics.gaugeOf({ name: 'berth_router_lb_held_requests', help: 'Requests that wait here for a worker.' }, held);
  metrics.gaugeOf(
    {
      name: 'berth_router_lb_requests_in_flight',
      help: 'Requests and WebSockets of this router that workers have.',
    },
    inFlight,
  );
  metrics.gaugeOf({ name: 'berth_router_lb_open_sockets', help: 'WebSockets that are open.' }, openSockets);
}
