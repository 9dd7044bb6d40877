import type { MetricRegistry } from '@berth/telemetry';

export const snapshotMetrics = (metrics: MetricRegistry) => ({
  corrections: metrics.counter({
    name: 'berth_management_snapshot_corrections_total',
    help: 'Snapshots that differed from the database and were put right, or could not be (`failed`).',
    labels: ['bucket', 'kind'],
  }),
  outboxEntries: metrics.gauge({
    name: 'berth_management_snapshot_outbox_entries',
    help: 'Changes that are committed and that the buckets do not have yet.',
  }),
  outboxOldestAge: metrics.gauge({
    name: 'berth_management_snapshot_outbox_oldest_age_seconds',
    help: 'How long the oldest of the changes waits that the buckets do not have yet.',
  }),
  outboxFailed: metrics.counter({
    name: 'berth_management_snapshot_outbox_failed_total',
    help: 'Tries to publish a change that failed although the broker and the database answered.',
    labels: ['bucket'],
  }),
});
