import type { MetricRegistry } from '@berth/telemetry';

export function listenerMetrics(metrics: MetricRegistry, tunnels: () => number) {
  metrics.gaugeOf({ name: 'berth_router_tunnels', help: 'Tunnels of hosts that stand.' }, tunnels);
  return {
    opens: metrics.counter<'outcome'>({
      name: 'berth_router_tunnel_opens_total',
      help: 'Ways to workers that were asked for, by what came of it: admitted, or why not.',
      labels: ['outcome'],
    }),
    handshakes: metrics.counter<'outcome'>({
      name: 'berth_router_tunnel_handshakes_total',
      help: 'Connections to the tunnel port, by what came of them: open, failed.',
      labels: ['outcome'],
    }),
    losses: metrics.counter({
      name: 'berth_router_tunnel_losses_total',
      help: 'Tunnels that ended with whatever was in them.',
    }),
  };
}

export type ListenerMetrics = ReturnType<typeof listenerMetrics>;

/** Of a host. */
export function dialerMetrics(metrics: MetricRegistry, tunnels: () => number) {
  metrics.gaugeOf({ name: 'berth_agent_tunnels', help: 'Tunnels to routers that stand.' }, tunnels);
  return {
    dials: metrics.counter<'outcome'>({
      name: 'berth_agent_tunnel_dials_total',
      help: 'Tunnels that routers offered and this host dialled, by what came of it: open, failed.',
      labels: ['outcome'],
    }),
    losses: metrics.counter({
      name: 'berth_agent_tunnel_losses_total',
      help: 'Tunnels that ended with requests in them, or though neither side had let go of them.',
    }),
  };
}

export type DialerMetrics = ReturnType<typeof dialerMetrics>;
