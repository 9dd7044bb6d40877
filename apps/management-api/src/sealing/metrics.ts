import type { MetricRegistry } from '@berth/telemetry';

export const sealingMetrics = (metrics: MetricRegistry) => ({
  left: metrics.gauge({
    name: 'berth_management_sealed_with_old_keys',
    help: 'Secrets that another key than the first has sealed, after the last look at all of them; not there before the first look.',
    labels: ['kind'],
  }),
  resealed: metrics.counter({
    name: 'berth_management_resealed_total',
    help: 'Secrets that were sealed anew, with the first key.',
    labels: ['kind'],
  }),
  unopened: metrics.counter({
    name: 'berth_management_reseal_failures_total',
    help: 'Tries to seal a secret anew that failed, because none of the keys opens it.',
    labels: ['kind'],
  }),
});
