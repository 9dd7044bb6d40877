import type { MetricRegistry } from '@berth/telemetry';

export const placeholderMetrics = (metrics: MetricRegistry) => ({
  changes: metrics.counter<'change'>({
    name: 'berth_controllers_placeholder_changes_total',
    help: 'Placeholder Pods that were created or removed.',
    labels: ['change'],
  }),
  failures: metrics.counter({
    name: 'berth_controllers_placeholder_failures_total',
    help: 'Passes over the placeholder Pods that the cluster did not carry out, or not wholly; the next pass starts anew.',
  }),
});

export type PlaceholderMetrics = ReturnType<typeof placeholderMetrics>;

/** Placeholders as the last pass of a leader found them, by whether the scheduler has given them a node. */
export interface PlaceholderFigures {
  readonly waiting: number;
  readonly scheduled: number;
}

/** @param read of the leader; of any other process null */
export function tellPlaceholders(metrics: MetricRegistry, read: () => PlaceholderFigures | null): void {
  metrics.gaugesOf(
    {
      name: 'berth_controllers_placeholders',
      help: 'Placeholder Pods by state: waiting for a node, or scheduled on one; told by the leader.',
      labels: ['state'],
    },
    () => {
      const figures = read();
      return figures === null
        ? []
        : (['waiting', 'scheduled'] as const).map((state) => ({ labels: { state }, value: figures[state] }));
    },
  );
}
