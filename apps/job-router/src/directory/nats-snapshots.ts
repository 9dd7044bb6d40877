import {
  BUCKETS,
  apiKeySnapshotShape,
  assignmentSnapshotShape,
  endpointSnapshotShape,
  hostSnapshotShape,
  webhookSecretsSnapshotShape,
  type ApiKeySnapshot,
  type AssignmentSnapshot,
  type EndpointSnapshot,
  type HostSnapshot,
  type SnapshotShape,
  type WebhookSecretsSnapshot,
} from '@berth/contracts';
import { PlatformError, isUnreadable, type EndpointId, type HostId } from '@berth/domain';
import { SnapshotDirectory, snapshotCodec, type Broker } from '@berth/messaging';
import type { Clock } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { ControlPlaneSnapshots, DeletedEndpoints, Snapshots } from './snapshots.port.js';
import { ControlPulse } from './control-pulse.js';

export interface NatsSnapshotsOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The control plane's buckets, watched, and its pulse. */
export class NatsSnapshots implements ControlPlaneSnapshots {
  readonly endpoints: Snapshots<EndpointSnapshot>;
  readonly apiKeys: Snapshots<ApiKeySnapshot>;
  readonly hosts: Snapshots<HostSnapshot>;
  readonly assignments: Snapshots<AssignmentSnapshot>;
  readonly deletedEndpoints: DeletedEndpoints;
  /** Calls `listener` whenever the workers of an endpoint are others, or other than they were. */
  readonly onAssignmentChanged: (listener: (endpointId: EndpointId) => void) => void;
  /** Hosts with workers of load-balanced endpoints, some of them more than once. */
  readonly balancedHosts: () => Iterable<HostId>;
  /** All that the watch has told of. */
  readonly hostIds: () => readonly HostId[];
  /** Of each endpoint, sealed. */
  readonly webhookSecrets: Snapshots<WebhookSecretsSnapshot>;
  readonly pulse: ControlPulse;
  readonly #directories: readonly { start(): Promise<void>; stop(): Promise<void> }[];
  #isLoaded = false;

  constructor(options: NatsSnapshotsOptions) {
    const open = <Value>(bucket: string, shape: SnapshotShape<Value>): SnapshotDirectory<Value> =>
      new SnapshotDirectory<Value>({
        broker: options.broker,
        clock: options.clock,
        bucket,
        codec: snapshotCodec(shape),
        onError: (error) => {
          // Told where all that cannot be read is.
          if (!isUnreadable(error)) options.logger.warn('a snapshot bucket was interrupted', { error });
        },
      });
    const endpoints = open<EndpointSnapshot>(BUCKETS.endpoints, endpointSnapshotShape);
    const apiKeys = open<ApiKeySnapshot>(BUCKETS.apiKeys, apiKeySnapshotShape);
    const hosts = open<HostSnapshot>(BUCKETS.hosts, hostSnapshotShape);
    const assignments = open<AssignmentSnapshot>(BUCKETS.assignments, assignmentSnapshotShape);
    const webhookSecrets = open<WebhookSecretsSnapshot>(BUCKETS.webhookSecrets, webhookSecretsSnapshotShape);
    this.endpoints = asSnapshots(endpoints);
    this.apiKeys = asSnapshots(apiKeys);
    this.hosts = asSnapshots(hosts);
    this.assignments = asSnapshots(assignments);
    this.hostIds = () => Array.from(hosts.entries(), ([id]) => id as HostId);
    this.balancedHosts = () => hostsOf(assignments.entries());
    this.onAssignmentChanged = (listener) => {
      assignments.onChange((key) => {
        listener(key as EndpointId);
      });
    };
    this.deletedEndpoints = asDeletedEndpoints(endpoints);
    this.webhookSecrets = asSnapshots(webhookSecrets);
    this.pulse = new ControlPulse(options.broker.connection, options.clock);
    this.#directories = [endpoints, apiKeys, hosts, assignments, webhookSecrets];
  }

  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** Resolves when everything has been loaded once; waits for buckets that the control plane has not made yet. */
  async start(): Promise<void> {
    this.pulse.start();
    await Promise.all(this.#directories.map((directory) => directory.start()));
    this.#isLoaded = true;
  }

  async stop(): Promise<void> {
    this.pulse.stop();
    await Promise.all(this.#directories.map((directory) => directory.stop()));
  }
}

const asSnapshots = <Value>(directory: SnapshotDirectory<Value>): Snapshots<Value> => ({
  get: (key) => directory.get(key),
  fetch: async (key) => {
    try {
      return (await directory.refresh(key)) ?? null;
    } catch (cause) {
      // A bucket that does not exist yet is an outage of the control plane, not a fault of the request.
      throw cause instanceof PlatformError
        ? cause
        : new PlatformError('service-unavailable', 'The control plane cannot be asked at the moment; try again.', {
            cause,
          });
    }
  },
});

const asDeletedEndpoints = (endpoints: SnapshotDirectory<EndpointSnapshot>): DeletedEndpoints => ({
  list: () => [...endpoints.entries()].filter(([, { isDeleted }]) => isDeleted).map(([id]) => id as EndpointId),
  onDeleted: (listener) => {
    endpoints.onChange((_, endpoint) => {
      if (endpoint?.isDeleted === true) listener();
    });
  },
});

/** A queue's workers take no requests, and have no slots. */
function* hostsOf(assignments: Iterable<readonly [string, AssignmentSnapshot]>): Iterable<HostId> {
  for (const [, { slotsPerWorker, workers }] of assignments) {
    if (slotsPerWorker !== undefined) for (const { hostId } of workers) yield hostId;
  }
}
