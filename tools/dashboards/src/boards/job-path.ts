import { makeBoard } from '../board.js';
import { graph } from '../panels.js';
import { quantile, quantiles, sumPerSecond } from '../queries.js';

/** A job from its request to its end, step by step, and a request to a load-balanced worker. */
export const jobPath = () =>
  makeBoard({
    uid: 'berth-job-path',
    title: 'Berth: job path',
    says: 'A job from its request to its end, and requests to load-balanced workers, step by step.',
    panels: [...ofJobs(), ...ofOwners(), ...ofRequests()],
  });

const ofJobs = () => [
  graph({
    title: 'Requests of the job paths, by status',
    says: 'Answers of routers per second, and whose fault they are: a worker’s failure is passed on.',
    unit: 'reqps',
    queries: [
      {
        expr: sumPerSecond('berth_http_request_seconds_count{job="job-router"}', 'status', 'fault'),
        legend: '{{status}}, fault: {{fault}}',
      },
    ],
  }),
  graph({
    title: 'Time of a request by route, 99 of 100',
    says: 'To the last byte of the answer: those that are held until a job ends are long by what they are.',
    unit: 's',
    queries: [{ expr: quantile(0.99, 'berth_http_request_seconds{job="job-router"}', 'route'), legend: '{{route}}' }],
  }),
  graph({
    title: 'Jobs accepted, taken and purged',
    says: 'Per second. More accepted than taken for long: queues grow.',
    unit: 'ops',
    queries: [
      { expr: sumPerSecond('berth_router_jobs_accepted_total'), legend: 'accepted' },
      { expr: sumPerSecond('berth_router_jobs_taken_total'), legend: 'taken' },
      { expr: sumPerSecond('berth_router_jobs_purged_total'), legend: 'purged' },
    ],
  }),
  graph({
    title: 'From queueing to the take',
    says: 'With idle workers these are milliseconds; else it is the wait for a worker.',
    unit: 's',
    queries: quantiles('berth_router_job_delay_seconds'),
  }),
];

const ofOwners = () => [
  graph({
    title: 'Answers of owners',
    says: 'From a question to the owner of a log to its answer: the commit is in it.',
    unit: 's',
    queries: [{ expr: quantile(0.99, 'berth_router_owner_answer_seconds', 'verb'), legend: '{{verb}}, 99 of 100' }],
  }),
  graph({
    title: 'Ends that hosts reported',
    says: 'By kind, and by what came of them.',
    unit: 'ops',
    queries: [{ expr: sumPerSecond('berth_router_results_total', 'kind', 'outcome'), legend: '{{kind}}: {{outcome}}' }],
  }),
  graph({
    title: 'From a worker’s answer to the router having it',
    says: 'Time of hosts to report.',
    unit: 's',
    queries: quantiles('berth_agent_report_seconds'),
  }),
  graph({
    title: 'Tries of webhooks',
    says: 'Requests to receivers, by how they ended.',
    unit: 'ops',
    queries: [{ expr: sumPerSecond('berth_router_webhook_tries_total', 'outcome'), legend: '{{outcome}}' }],
  }),
];

const ofRequests = () => [
  graph(
    {
      title: 'Load-balanced requests, by outcome',
      says: 'Those that are over, per second.',
      unit: 'reqps',
      queries: [{ expr: sumPerSecond('berth_router_lb_requests_total', 'outcome'), legend: '{{outcome}}' }],
    },
    true,
  ),
  graph({
    title: 'Load-balanced requests that wait and are under way',
    says: 'Held ones wait for a worker with a free slot.',
    unit: 'short',
    queries: [
      { expr: 'sum(berth_router_lb_held_requests)', legend: 'held' },
      { expr: 'sum(berth_router_lb_requests_in_flight)', legend: 'at workers' },
      { expr: 'sum(berth_router_lb_open_sockets)', legend: 'WebSockets' },
    ],
  }),
  graph({
    title: 'Load-balanced: wait for a worker',
    says: 'From when a request might go to a worker until one had it.',
    unit: 's',
    queries: quantiles('berth_router_lb_held_seconds'),
  }),
  graph({
    title: 'Load-balanced: worker’s first byte',
    says: 'From when a worker had the request: this is the worker’s own time, and the way to it.',
    unit: 's',
    queries: quantiles('berth_router_lb_first_byte_seconds'),
  }),
];
