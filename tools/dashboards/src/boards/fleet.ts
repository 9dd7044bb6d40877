import { makeBoard } from '../board.js';
import { figure, graph } from '../panels.js';
import { sumPerSecond } from '../queries.js';

/** The first one to look at: is all of it there, and does the work get done? */
export const fleet = () =>
  makeBoard({
    uid: 'berth-fleet',
    title: 'Berth: fleet',
    says: 'What runs, what waits, what is lacking. The first one to look at.',
    panels: [...figures(), ...ofWork(), ...ofLoops()],
  });

const figures = () => [
  figure({
    title: 'Processes',
    says: 'Processes of Berth that were there at the last look.',
    unit: 'short',
    queries: [{ expr: 'count by (process) (berth_build_info)', legend: '{{process}}' }],
  }),
  figure({
    title: 'Jobs that wait',
    says: 'In the queues of all endpoints.',
    unit: 'short',
    queries: [{ expr: 'sum(berth_router_endpoint_jobs_waiting)', legend: 'waiting' }],
  }),
  figure({
    title: 'Longest wait',
    says: 'Of the normal job that has waited longest, over all endpoints.',
    unit: 's',
    queries: [{ expr: 'max(berth_router_endpoint_oldest_wait_seconds)', legend: 'longest' }],
  }),
  figure({
    title: 'Leaders',
    says: 'Controllers that lead: one. None: nothing is scaled. Two for seconds only.',
    unit: 'short',
    queries: [{ expr: 'sum(berth_controllers_is_leader)', legend: 'leaders' }],
  }),
];

const ofWork = () => [
  graph(
    {
      title: 'Workers by phase',
      says: 'Containers on all hosts.',
      unit: 'short',
      queries: [{ expr: 'sum by (phase) (berth_agent_workers)', legend: '{{phase}}' }],
    },
    true,
  ),
  graph({
    title: 'Jobs that wait and run',
    says: 'A queue that grows while few run: look at workers without a place.',
    unit: 'short',
    queries: [
      { expr: 'sum(berth_router_endpoint_jobs_waiting)', legend: 'waiting' },
      { expr: 'sum(berth_router_endpoint_jobs_running)', legend: 'running' },
    ],
  }),
  graph({
    title: 'Workers without a place',
    says: 'Wanted, and not placed in the last pass, by what the nearest host lacks.',
    unit: 'short',
    queries: [{ expr: 'sum by (reason) (berth_controllers_unplaced_workers)', legend: '{{reason}}' }],
  }),
];

const ofLoops = () => [
  graph({
    title: 'Scaling decisions',
    says: 'Changes of the number of desired workers, by reason.',
    unit: 'ops',
    queries: [{ expr: sumPerSecond('berth_controllers_scale_decisions_total', 'reason'), legend: '{{reason}}' }],
  }),
  graph({
    title: 'Containers that were counted, by account',
    says: 'On the average of the last minutes, as usage has it. GPUs: berth_controllers_usage_gpu_seconds_total.',
    unit: 'short',
    queries: [{ expr: sumPerSecond('berth_controllers_usage_worker_seconds_total', 'account'), legend: '{{account}}' }],
  }),
  graph({
    title: 'Workers placed, drained and forgotten',
    says: 'What the control loop did, by the reason of its plan.',
    unit: 'ops',
    queries: [
      { expr: sumPerSecond('berth_controllers_operations_total', 'kind', 'reason'), legend: '{{kind}}: {{reason}}' },
    ],
  }),
  graph({
    title: 'Passes of the control loop',
    says: 'Passes per second, and those that ended with an error.',
    unit: 'ops',
    queries: [
      { expr: sumPerSecond('berth_controllers_pass_seconds_count'), legend: 'passes' },
      { expr: sumPerSecond('berth_controllers_pass_failures_total'), legend: 'failed' },
    ],
  }),
];
