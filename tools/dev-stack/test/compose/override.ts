/** Ports on this machine, so that stacks run beside each other. */
export interface ComposePorts {
  readonly brokers: readonly [number, number, number];
  readonly apis: readonly [number, number];
  readonly routers: readonly [number, number];
  readonly tunnels: readonly [number, number];
  readonly agentOperations: number;
}

/** How many ports `portsOf` needs. */
export const PORT_COUNT = 10;

export function portsOf(ports: readonly number[]): ComposePorts {
  const [one, two, three, apiOne, apiTwo, routerOne, routerTwo, tunnelOne, tunnelTwo, agentOperations] =
    ports as readonly [number, number, number, number, number, number, number, number, number, number];
  return {
    brokers: [one, two, three],
    apis: [apiOne, apiTwo],
    routers: [routerOne, routerTwo],
    tunnels: [tunnelOne, tunnelTwo],
    agentOperations,
  };
}

/** Of the page's ports each that its commands name, and the one that it has here. */
export const PAGE_PORTS = (ports: ComposePorts): readonly (readonly [number, number])[] => [
  [8000, ports.apis[0]],
  [8001, ports.routers[0]],
];

/** More than a busy machine has, or a worker of two vCPU would not fit beside another. */
const VCPUS = '8';

/** An override of compose.yaml: its ports, and how much this machine claims to have. */
export function overriding(ports: ComposePorts): string {
  const at = (port: number, inside: number): string => `127.0.0.1:${String(port)}:${String(inside)}`;
  const router = (index: 0 | 1): object => ({
    ports: [at(ports.routers[index], 8001), at(ports.tunnels[index], 8443)],
    environment: { BERTH_TUNNEL_ADDRESS: `127.0.0.1:${String(ports.tunnels[index])}` },
  });
  const override = {
    services: {
      ...Object.fromEntries(ports.brokers.map((port, index) => [`broker-${index + 1}`, { ports: [at(port, 4222)] }])),
      ...Object.fromEntries(
        ports.apis.map((port, index) => [`management-api-${index + 1}`, { ports: [at(port, 8000)] }]),
      ),
      'job-router-1': router(0),
      'job-router-2': router(1),
      'worker-agent': {
        environment: {
          BERTH_NATS_URL: ports.brokers.map((port) => `tls://127.0.0.1:${String(port)}`).join(','),
          BERTH_OPERATIONS_PORT: String(ports.agentOperations),
          BERTH_BRIDGE_PORT: '0',
          BERTH_VCPUS: VCPUS,
        },
      },
    },
  };
  // Compose adds lists to those of the file; a tag of YAML, which JSON is part of, says that these take their place.
  return JSON.stringify(override).replaceAll('"ports":', '"ports": !override ');
}
