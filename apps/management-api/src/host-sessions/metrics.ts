import type { MetricRegistry } from '@berth/telemetry';

export const hostSessionsMetrics = (metrics: MetricRegistry) => ({
  refused: metrics.counter<'fault'>({
    name: 'berth_management_agent_questions_refused_total',
    help: 'Questions of agents that were not handled: their answer may not go there, or their host asks too much.',
    labels: ['fault'],
  }),
  notAdmitted: metrics.counter<'fault'>({
    name: 'berth_management_agents_not_admitted_total',
    help: 'Connections of agents that the broker was told not to let in, by why.',
    labels: ['fault'],
  }),
  cutOffs: metrics.counter({
    name: 'berth_management_host_cut_offs_total',
    help: 'Connections to the broker that were ended because their host was removed.',
  }),
  cutOffFailures: metrics.counter({
    name: 'berth_management_host_cut_off_failures_total',
    help: 'Connections of removed hosts that could not be ended; the next pass tries again.',
  }),
});

export type HostSessionsMetrics = ReturnType<typeof hostSessionsMetrics>;

export const reportMetrics = (metrics: MetricRegistry) => ({
  dropped: metrics.counter({
    name: 'berth_management_report_entries_dropped_total',
    help: "Entries of hosts' reports that could not be read and were left out.",
  }),
  unopenable: metrics.counter({
    name: 'berth_management_workers_unopenable_total',
    help: 'Workers that their host was told not to start, because their variables cannot be opened.',
  }),
});
