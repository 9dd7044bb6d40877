import type { MetricRegistry } from '@berth/telemetry';

export const confinementMetrics = (metrics: MetricRegistry) => ({
  isConfined: metrics.gauge<never>({
    name: 'agent_workers_confined',
    help: '1 while the firewall keeps the workers of this host where they belong, 0 while it does not.',
    labels: [],
  }),
  repairs: metrics.counter<never>({
    name: 'agent_confinement_repairs_total',
    help: 'Times that somebody else had changed the rules that confine workers, and they were put back.',
    labels: [],
  }),
});

export type ConfinementMetrics = ReturnType<typeof confinementMetrics>;
