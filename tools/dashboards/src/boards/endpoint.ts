import { makeBoard } from '../board.js';
import { graph } from '../panels.js';
import { UNSERVED, quantile, sumPerSecond } from '../queries.js';

const OF = '{endpoint=~"$endpoint"}';

/** One endpoint, or some, or all of those that have series of their own. */
export const endpoint = () =>
  makeBoard({
    uid: 'berth-endpoint',
    title: 'Berth: endpoint',
    says: 'Queue, ends, times and requests of chosen endpoints. The busiest 200 of a router have series; the others are _other.',
    choice: {
      name: 'endpoint',
      label: 'Endpoint',
      metrics: ['berth_router_endpoint_jobs_waiting', 'berth_router_lb_requests_total'],
    },
    panels: [...ofQueues(), ...ofStarts(), ...ofEnds(), ...ofRequests()],
  });

const ofQueues = () => [
  graph({
    title: 'Jobs that wait',
    says: 'In the queue of each endpoint.',
    unit: 'short',
    queries: [{ expr: `sum by (endpoint) (berth_router_endpoint_jobs_waiting${OF})`, legend: '{{endpoint}}' }],
  }),
  graph({
    title: 'Longest wait',
    says: 'Of the normal job that has waited longest.',
    unit: 's',
    queries: [{ expr: `max by (endpoint) (berth_router_endpoint_oldest_wait_seconds${OF})`, legend: '{{endpoint}}' }],
  }),
  graph({
    title: 'Jobs that run',
    says: 'On workers at the moment.',
    unit: 'short',
    queries: [{ expr: `sum by (endpoint) (berth_router_endpoint_jobs_running${OF})`, legend: '{{endpoint}}' }],
  }),
];

const ofStarts = () => [
  graph({
    title: 'Jobs by how they came to a worker',
    says: 'Per second. Cold: the first of a worker that had to be started for them; resumed: of one that was paused.',
    unit: 'ops',
    queries: [
      {
        expr: sumPerSecond(`berth_agent_endpoint_start_wait_seconds_count${OF}`, 'start'),
        legend: '{{start}}',
      },
    ],
  }),
  graph({
    title: 'Wait of those jobs, 90 of 100',
    says: 'From queueing to the take, by whether a worker had to start or go on.',
    unit: 's',
    queries: [{ expr: quantile(0.9, `berth_agent_endpoint_start_wait_seconds${OF}`, 'start'), legend: '{{start}}' }],
  }),
  graph({
    title: 'Scaling decisions',
    says: 'Changes of the number of desired workers, by reason.',
    unit: 'ops',
    queries: [{ expr: sumPerSecond(`berth_controllers_scale_decisions_total${OF}`, 'reason'), legend: '{{reason}}' }],
  }),
];

const ofEnds = () => [
  graph(
    {
      title: 'Jobs that ended, by outcome',
      says: 'Per second, of all chosen endpoints.',
      unit: 'ops',
      queries: [
        { expr: sumPerSecond(`berth_router_endpoint_jobs_ended_total${OF}`, 'outcome'), legend: '{{outcome}}' },
      ],
    },
    true,
  ),
  graph({
    title: 'Execution time, 99 of 100',
    says: 'How long the attempt ran with which a job ended.',
    unit: 's',
    queries: [
      { expr: quantile(0.99, `berth_router_endpoint_execution_seconds${OF}`, 'endpoint'), legend: '{{endpoint}}' },
    ],
  }),
  graph({
    title: 'Share of jobs that failed',
    says: 'Failed or timed out, of those that ended.',
    unit: 'percentunit',
    queries: [
      {
        expr:
          `${sumPerSecond('berth_router_endpoint_jobs_ended_total{endpoint=~"$endpoint",outcome=~"FAILED|TIMED_OUT"}', 'endpoint')}` +
          ` / (${sumPerSecond(`berth_router_endpoint_jobs_ended_total${OF}`, 'endpoint')} > 0)`,
        legend: '{{endpoint}}',
      },
    ],
  }),
];

const ofRequests = () => [
  graph(
    {
      title: 'Load-balanced requests that are over, by outcome',
      says: 'Per second, of all chosen endpoints: a class is what workers answered.',
      unit: 'reqps',
      queries: [{ expr: sumPerSecond(`berth_router_lb_requests_total${OF}`, 'outcome'), legend: '{{outcome}}' }],
    },
    true,
  ),
  graph({
    title: 'Load-balanced requests without a worker',
    says: 'Share of those that are over: no worker had a free slot in time, or there was none.',
    unit: 'percentunit',
    queries: [
      {
        expr:
          `${sumPerSecond(`berth_router_lb_requests_total{endpoint=~"$endpoint",${UNSERVED}}`, 'endpoint')}` +
          ` / (${sumPerSecond(`berth_router_lb_requests_total${OF}`, 'endpoint')} > 0)`,
        legend: '{{endpoint}}',
      },
    ],
  }),
];
