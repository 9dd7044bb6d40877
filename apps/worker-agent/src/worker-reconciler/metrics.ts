import type { MetricRegistry } from '@berth/telemetry';

export const workerMetrics = (metrics: MetricRegistry) => ({
  starts: metrics.counter<'outcome'>({
    name: 'berth_agent_worker_starts_total',
    help: 'Containers that were to be started, by outcome: started, or the reason of the failure.',
    labels: ['outcome'],
  }),
  preparations: metrics.counter<'outcome'>({
    name: 'berth_agent_worker_preparations_total',
    help: 'Images that were to be pulled or set up, by outcome.',
    labels: ['outcome'],
  }),
  pauses: metrics.counter<'outcome'>({
    name: 'berth_agent_worker_pauses_total',
    help: 'Containers that were to be frozen or to go on, by outcome: paused, resumed, failed.',
    labels: ['outcome'],
  }),
  ends: metrics.counter<'expected'>({
    name: 'berth_agent_worker_ends_total',
    help: 'Containers that ended, by whether the agent had asked for it.',
    labels: ['expected'],
  }),
  unreadableEntries: metrics.counter({
    name: 'berth_agent_reply_entries_unreadable_total',
    help: "Entries of the control plane's answers that could not be read; an answer that is none counts as one.",
  }),
  workers: metrics.gauge<'phase'>({
    name: 'berth_agent_workers',
    help: 'Workers on this host by phase.',
    labels: ['phase'],
  }),
});

export type WorkerMetrics = ReturnType<typeof workerMetrics>;
