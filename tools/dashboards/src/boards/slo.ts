import { makeBoard } from '../board.js';
import { figure, graph } from '../panels.js';
import { UNSERVED } from '../queries.js';

/** Of requests and of load-balanced requests that are to be answered without an error of ours. Alerts use the same. */
const OBJECTIVE = 0.999;

const REQUESTS = 'berth_http_request_seconds_count';
/** What a worker did is passed on, and is no error of ours. */
const ERRORS = `${REQUESTS}{status=~"5..",fault!="worker"}`;
const BALANCED = 'berth_router_lb_requests_total';

/** Promises to callers, and what is left of them. */
export const slo = () =>
  makeBoard({
    uid: 'berth-slo',
    title: 'Berth: service levels',
    says: 'How much of what callers ask is answered well, and what is left of the month’s errors.',
    panels: [...figures(), ...graphs()],
  });

const shareOfErrors = (errors: string, all: string, window: string): string =>
  `(sum(rate(${errors}[${window}])) or vector(0)) / (sum(rate(${all}[${window}])) > 0)`;

const answered = (window: string): string => `1 - ${shareOfErrors(ERRORS, REQUESTS, window)}`;

const balanced = (window: string): string => `1 - ${shareOfErrors(`${BALANCED}{${UNSERVED}}`, BALANCED, window)}`;

const within = (histogram: string, le: string, window: string): string =>
  `sum(rate(${histogram}_bucket{le="${le}"}[${window}])) / (sum(rate(${histogram}_count[${window}])) > 0)`;

const figures = () => [
  figure({
    title: 'Requests answered, 30 days',
    says: `Without a status of 500 or above that is no worker’s doing, at both interfaces. The objective is ${OBJECTIVE * 100} %.`,
    unit: 'percentunit',
    queries: [{ expr: answered('30d'), legend: 'answered' }],
  }),
  figure({
    title: 'Errors left, 30 days',
    says: 'Of those that the objective allows: at 0 there are none left, below it was missed.',
    unit: 'percentunit',
    queries: [
      {
        expr: `1 - (${shareOfErrors(ERRORS, REQUESTS, '30d')}) / (1 - ${OBJECTIVE})`,
        legend: 'left',
      },
    ],
  }),
  figure({
    title: 'Load-balanced requests, 30 days',
    says: `Those that could be brought to a worker. The objective is ${OBJECTIVE * 100} %.`,
    unit: 'percentunit',
    queries: [{ expr: balanced('30d'), legend: 'answered' }],
  }),
  figure({
    title: 'Leaders, 30 days',
    says: 'Share of the time in which controllers led.',
    unit: 'percentunit',
    queries: [{ expr: 'avg_over_time(max(berth_controllers_is_leader)[30d:1m])', legend: 'led' }],
  }),
];

const graphs = () => [
  graph({
    title: 'Requests answered, by the hour',
    says: 'Share of the hour before.',
    unit: 'percentunit',
    queries: [
      { expr: answered('1h'), legend: 'requests' },
      { expr: balanced('1h'), legend: 'load-balanced' },
    ],
  }),
  graph({
    title: 'Load-balanced requests without a worker, by endpoint',
    says: 'In the hour before, of the ten endpoints that have most of them.',
    unit: 'short',
    queries: [
      {
        expr: `topk(10, sum by (endpoint) (increase(${BALANCED}{${UNSERVED}}[1h])))`,
        legend: '{{endpoint}}',
      },
    ],
  }),
  graph({
    title: 'How fast the allowed errors are used up',
    says: '1: the objective is just met. 14.4 for an hour: a fiftieth of the month’s errors in that hour.',
    unit: 'short',
    queries: ['5m', '1h', '6h'].map((window) => ({
      expr: `(${shareOfErrors(ERRORS, REQUESTS, window)}) / (1 - ${OBJECTIVE})`,
      legend: window,
    })),
  }),
  graph({
    title: 'Jobs taken within half a second',
    says: 'Share of the hour before. Falls when workers are lacking, and then it is capacity.',
    unit: 'percentunit',
    queries: [{ expr: within('berth_router_job_delay_seconds', '0.5', '1h'), legend: 'taken' }],
  }),
  graph({
    title: 'Owners that answered within a quarter of a second',
    says: 'Share of the hour before, over all verbs: the commit is in it.',
    unit: 'percentunit',
    queries: [{ expr: within('berth_router_owner_answer_seconds', '0.25', '1h'), legend: 'answered' }],
  }),
];
