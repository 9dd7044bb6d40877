import type { WitnessMessage } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger, MetricRegistry, Traces } from '@berth/telemetry';
import type { WorkerLink } from '@berth/tunnel';
import type { RouterSettings } from '../platform/index.js';
import type { LoadBalancerDirectory } from './directory.port.js';
import { Door } from './door.js';
import { loadBalancerGauges, loadBalancerMetrics } from './metrics.js';
import { RequestTotals, type CountPeers } from './counts/request-totals.js';
import { HeldDemand } from './places/held-demand.js';
import { Places } from './places/places.js';

export interface LoadBalancerParts {
  readonly settings: Pick<RouterSettings, 'docsUrl' | 'loadBalancer' | 'routerId'>;
  readonly directory: LoadBalancerDirectory;
  /** Calls `listener` when the workers of an endpoint are others, or other than they were. */
  readonly onAssignmentChanged: (listener: (endpointId: EndpointId) => void) => void;
  /** Calls `listener` whenever some endpoint is deleted. */
  readonly onEndpointDeleted: (listener: () => void) => void;
  /** Counts a call that this router holds for the account of the endpoint, until it is ended. @throws PlatformError */
  readonly holdCall: (endpointId: EndpointId) => () => void;
  readonly link: WorkerLink;
  /** The control plane's last sign of life, Unix ms. */
  readonly pulse: { readonly heardAtMs: number };
  readonly peers: CountPeers;
  readonly publish: (message: WitnessMessage) => void;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  readonly traces: Pick<Traces, 'enter' | 'isOn' | 'step'>;
  /** How long requests in flight may still take once the process stops. */
  readonly drainMs: number;
}

/** Callers of WebSockets have this long, of the time for draining, to close them, and those that still wait to be told. */
const SAY_GOODBYE_MS = 2_000;

/** The door to load-balanced endpoints. `demand` and `totals` are to be started. */
export function composeLoadBalancer({ metrics: registry, settings, ...parts }: LoadBalancerParts) {
  const { clock, directory, drainMs, onAssignmentChanged, onEndpointDeleted, publish } = parts;
  const { docsUrl, loadBalancer, routerId } = settings;
  const { bodyBytesMax, domain, holdMs, loggedPermille } = loadBalancer;
  const metrics = loadBalancerMetrics(registry);
  const places = new Places({ ...parts, metrics, holdMs });
  onAssignmentChanged((endpointId) => {
    places.assignmentChanged(endpointId);
  });
  onEndpointDeleted(() => {
    places.endpointDeleted();
  });
  const door = new Door({ ...parts, metrics, directory, places, domain, docsUrl, bodyBytesMax, loggedPermille });
  const totals = new RequestTotals({ ...parts, places });
  const demand = new HeldDemand({ places, clock, routerId, publish });
  loadBalancerGauges(registry, {
    held: () => places.total().held,
    inFlight: () => places.total().inFlight,
    openSockets: () => door.openSockets,
  });
  /** What waits and what workers have goes on while the process drains; shortly before its end all of it is told to go. */
  const release = async (drained: () => Promise<void>): Promise<void> => {
    const disarm = clock.after(Math.max(0, drainMs - SAY_GOODBYE_MS), () => {
      places.close();
      door.leave();
    });
    await drained();
    disarm();
  };
  return { door, places, totals, demand, release };
}
