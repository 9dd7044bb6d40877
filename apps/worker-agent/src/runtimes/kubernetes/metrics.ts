import type { MetricRegistry } from '@berth/telemetry';

export const kubernetesMetrics = (metrics: MetricRegistry) => ({
  isWatching: metrics.gauge<never>({
    name: 'berth_agent_kubernetes_watching',
    help: '1 while the API tells this agent of its Pods, 0 while what is known of them may be old.',
    labels: [],
  }),
  watchBreaks: metrics.counter<'reason'>({
    name: 'berth_agent_kubernetes_watch_breaks_total',
    help: 'Times that the watch on Pods broke off: too-old, the API had forgotten where it stood; silent, nothing was heard of it; failed, all else.',
    labels: ['reason'],
  }),
  evictions: metrics.counter<never>({
    name: 'berth_agent_kubernetes_evictions_total',
    help: 'Workers whose Pods the cluster took away.',
    labels: [],
  }),
});

export type KubernetesMetrics = ReturnType<typeof kubernetesMetrics>;
