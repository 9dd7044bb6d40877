import { OTHER_ENDPOINTS, SCALE_REASONS, type GpuCount } from '@berth/domain';
import { SECONDS_BUCKETS, type MetricRegistry } from '@berth/telemetry';

export const controllersMetrics = (metrics: MetricRegistry) => ({
  passes: metrics.histogram({
    name: 'berth_controllers_pass_seconds',
    help: 'Time of one pass of the control loop over the fleet.',
    buckets: SECONDS_BUCKETS,
  }),
  failures: metrics.counter({
    name: 'berth_controllers_pass_failures_total',
    help: 'Passes of the control loop that ended with an error; the next pass starts anew.',
  }),
  operations: metrics.counter<'kind' | 'reason'>({
    name: 'berth_controllers_operations_total',
    help: 'Workers that were placed, drained or forgotten, by the reason of the plan.',
    labels: ['kind', 'reason'],
  }),
  decisions: metrics.counter<'endpoint' | 'reason'>({
    name: 'berth_controllers_scale_decisions_total',
    help: 'Scaling decisions that changed the number of desired workers, by endpoint and reason.',
    labels: ['endpoint', 'reason'],
    values: { endpoint: [OTHER_ENDPOINTS], reason: SCALE_REASONS },
  }),
});

/** Asked whenever the metrics are read: a leader that cannot renew stops leading without any event. */
export function tellLeadership(metrics: MetricRegistry, isLeader: () => boolean): void {
  const help = '1 in the process that leads at present, else 0.';
  metrics.gaugeOf({ name: 'berth_controllers_is_leader', help }, () => Number(isLeader()));
}

/** What the last pass of a leader found. */
export interface FleetFigures {
  readonly gpus: readonly GpuCount[];
  readonly suspectHosts: number;
  /** Workers without a place, by reason. */
  readonly unplaced: ReadonlyMap<string, number>;
}

/** @param read of the leader; of any other process null, so that each thing is told of once, and nothing that is past */
export function tellFleet(metrics: MetricRegistry, read: () => FleetFigures | null): void {
  metrics.gaugesOf(
    {
      name: 'berth_controllers_gpus',
      help: 'GPUs of all hosts by type and use: busy (a worker has it), paused (a frozen one has it), idle, lost (its host is silent).',
      labels: ['gpu_type', 'use'],
    },
    () =>
      (read()?.gpus ?? []).map(({ count, gpuTypeId, use }) => ({ labels: { gpu_type: gpuTypeId, use }, value: count })),
  );
  metrics.gaugesOf(
    {
      name: 'berth_controllers_suspect_hosts',
      help: 'Hosts on which workers of several endpoints fail that fail nowhere else; told by the leader.',
    },
    () => [read()].flatMap((figures) => (figures === null ? [] : [{ labels: {}, value: figures.suspectHosts }])),
  );
  metrics.gaugesOf(
    {
      name: 'berth_controllers_unplaced_workers',
      help: 'Workers that are wanted and had no place in the last pass, by reason; told by the leader.',
      labels: ['reason'],
    },
    () => [...(read()?.unplaced ?? [])].map(([reason, value]) => ({ labels: { reason }, value })),
  );
}

export type ControllersMetrics = ReturnType<typeof controllersMetrics>;
