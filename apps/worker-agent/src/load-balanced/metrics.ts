import { SECONDS_BUCKETS, type MetricRegistry } from '@berth/telemetry';

/** Asked for when the metrics are read. */
export interface BalancedReadings {
  readonly inFlight: () => number;
  readonly asksWaiting: () => number;
  readonly workersOut: () => number;
}

export function balancedGauges(metrics: MetricRegistry, { asksWaiting, inFlight, workersOut }: BalancedReadings): void {
  metrics.gaugeOf(
    { name: 'berth_agent_balanced_requests_in_flight', help: 'Requests that load-balanced workers of this host have.' },
    inFlight,
  );
  metrics.gaugeOf(
    {
      name: 'berth_agent_balanced_asks_waiting',
      help: 'Questions of routers that wait for a slot of a load-balanced worker of this host.',
    },
    asksWaiting,
  );
  metrics.gaugeOf(
    { name: 'berth_agent_balanced_workers_out', help: 'Load-balanced workers that get no requests for their checks.' },
    workersOut,
  );
}

export const balancedMetrics = (metrics: MetricRegistry) => ({
  requests: metrics.counter<'outcome'>({
    name: 'berth_agent_balanced_requests_total',
    help: 'Requests for load-balanced workers, by outcome: admitted, or why not.',
    labels: ['outcome'],
  }),
  untold: metrics.counter({
    name: 'berth_agent_demand_untold_total',
    help: 'Messages of what is in flight that could not be sent.',
  }),
  checks: metrics.counter<'outcome'>({
    name: 'berth_agent_health_checks_total',
    help: 'Health checks of load-balanced workers, by outcome.',
    labels: ['outcome'],
  }),
  healthChanges: metrics.counter<'standing'>({
    name: 'berth_agent_balanced_health_changes_total',
    help: 'Times that a load-balanced worker came to stand otherwise: in, initializing, out.',
    labels: ['standing'],
  }),
  connect: metrics.histogram({
    name: 'berth_agent_balanced_connect_seconds',
    help: 'From the admission of a request until its worker took the connection.',
    buckets: SECONDS_BUCKETS,
  }),
});

export type BalancedMetrics = ReturnType<typeof balancedMetrics>;
