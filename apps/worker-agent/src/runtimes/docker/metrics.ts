import type { MetricRegistry } from '@berth/telemetry';

export const confinementMetrics = (metrics: MetricRegistry) => ({
  isConfined: metrics.gauge({
    name: 'berth_agent_workers_confined',
    help: '1 while the firewall keeps the workers of this host where they belong, 0 while it does not.',
  }),
  repairs: metrics.counter({
    name: 'berth_agent_confinement_repairs_total',
    help: 'Times that somebody else had changed the rules that confine workers, and they were put back.',
  }),
});

export type ConfinementMetrics = ReturnType<typeof confinementMetrics>;
