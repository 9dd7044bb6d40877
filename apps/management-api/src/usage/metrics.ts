import type { MetricRegistry } from '@berth/telemetry';

type UsageLabel = 'account' | 'endpoint' | 'gpu_type' | 'use';

export const usageMetrics = (metrics: MetricRegistry) => ({
  gpuSeconds: metrics.counter<UsageLabel>({
    name: 'berth_controllers_usage_gpu_seconds_total',
    help: 'Seconds for which workers had GPUs, times GPUs, by account, endpoint, type and use: running or paused.',
    labels: ['account', 'endpoint', 'gpu_type', 'use'],
  }),
  workerSeconds: metrics.counter<UsageLabel>({
    name: 'berth_controllers_usage_worker_seconds_total',
    help: 'Seconds for which workers had a container, by account, endpoint, type of GPU (cpu: none) and use: running or paused.',
    labels: ['account', 'endpoint', 'gpu_type', 'use'],
  }),
  failures: metrics.counter({
    name: 'berth_controllers_usage_failures_total',
    help: 'Passes that count what workers use and that ended with an error; the next counts what this one has not.',
  }),
});

export type UsageMetrics = ReturnType<typeof usageMetrics>;
