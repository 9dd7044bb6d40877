import type { MetricRegistry } from '@berth/telemetry';

export const snapshotMetrics = (metrics: MetricRegistry) => ({
  corrections: metrics.counter({
    name: 'management_snapshot_corrections_total',
    help: 'Snapshots that differed from the database and were put right, or could not be (`failed`).',
    labels: ['bucket', 'kind'],
  }),
});
