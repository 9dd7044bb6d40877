import { makeBoard } from '../board.js';
import { figure, graph } from '../panels.js';
import { quantiles, sumPerSecond } from '../queries.js';

/** Machines and their GPUs. */
export const hosts = () =>
  makeBoard({
    uid: 'berth-hosts',
    title: 'Berth: hosts and GPUs',
    says: 'GPUs by type and use, what agents do, and how the processes themselves are.',
    panels: [...figures(), ...ofWorkers(), ...ofProcesses()],
  });

const figures = () => [
  figure({
    title: 'GPUs',
    says: 'Of all hosts that have joined.',
    unit: 'short',
    queries: [{ expr: 'sum(berth_controllers_gpus)', legend: 'GPUs' }],
  }),
  figure({
    title: 'Share of GPUs that work',
    says: 'Those that a worker has, of those that are not lost.',
    unit: 'percentunit',
    queries: [
      {
        expr: 'sum(berth_controllers_gpus{use="busy"}) / (sum(berth_controllers_gpus{use!="lost"}) > 0)',
        legend: 'busy',
      },
    ],
  }),
  figure({
    title: 'Lost GPUs',
    says: 'Their host is silent.',
    unit: 'short',
    queries: [{ expr: 'sum(berth_controllers_gpus{use="lost"})', legend: 'lost' }],
  }),
  figure({
    title: 'Suspect hosts',
    says: 'Workers of several endpoints fail there that fail nowhere else.',
    unit: 'short',
    queries: [{ expr: 'sum(berth_controllers_suspect_hosts)', legend: 'suspect' }],
  }),
];

const ofWorkers = () => [
  graph(
    {
      title: 'GPUs by type and use',
      says: 'Paused: a frozen worker has it, and gives it back when somebody needs it.',
      unit: 'short',
      queries: [{ expr: 'sum by (gpu_type, use) (berth_controllers_gpus)', legend: '{{gpu_type}}: {{use}}' }],
    },
    true,
  ),
  graph({
    title: 'Workers by host',
    says: 'Containers of each agent.',
    unit: 'short',
    queries: [{ expr: 'sum by (instance) (berth_agent_workers)', legend: '{{instance}}' }],
  }),
  graph({
    title: 'Starts of workers',
    says: 'Per second, by outcome: started, or why not.',
    unit: 'ops',
    queries: [{ expr: sumPerSecond('berth_agent_worker_starts_total', 'outcome'), legend: '{{outcome}}' }],
  }),
  graph({
    title: 'Attempts that ended on hosts',
    says: 'By how they ended.',
    unit: 'ops',
    queries: [{ expr: sumPerSecond('berth_agent_attempts_ended_total', 'kind'), legend: '{{kind}}' }],
  }),
  graph({
    title: 'Takes and renewals that no router answered',
    says: 'Above nothing for long: the way from this host to the broker, or the routers.',
    unit: 'ops',
    queries: [
      { expr: sumPerSecond('berth_agent_take_failures_total', 'instance'), legend: 'takes, {{instance}}' },
      { expr: sumPerSecond('berth_agent_renew_failures_total', 'instance'), legend: 'renewals, {{instance}}' },
    ],
  }),
  graph({
    title: 'From admission to a load-balanced worker’s connection',
    says: 'On the host itself.',
    unit: 's',
    queries: quantiles('berth_agent_balanced_connect_seconds'),
  }),
];

const ofProcesses = () => [
  graph({
    title: 'Memory of processes',
    says: 'Resident. A slope over days is a leak.',
    unit: 'bytes',
    queries: [{ expr: 'max by (job, instance) (berth_process_resident_memory_bytes)', legend: '{{job}} {{instance}}' }],
  }),
  graph({
    title: 'Cores in use',
    says: 'A process of Berth has one main thread, and some beside it: about 1 is full.',
    unit: 'short',
    queries: [
      { expr: sumPerSecond('berth_process_cpu_seconds_total', 'job', 'instance'), legend: '{{job}} {{instance}}' },
    ],
  }),
  graph({
    title: 'Lag of event loops, 99 of 100',
    says: 'How late a process comes to what it has to do.',
    unit: 's',
    queries: [
      { expr: 'max by (job, instance) (berth_nodejs_eventloop_lag_p99_seconds)', legend: '{{job}} {{instance}}' },
    ],
  }),
  graph({
    title: 'Processes by version',
    says: 'More than one version: an upgrade is under way.',
    unit: 'short',
    queries: [{ expr: 'count by (process, version) (berth_build_info)', legend: '{{process}} {{version}}' }],
  }),
];
