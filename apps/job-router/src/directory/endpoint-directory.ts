import type { ApiKeySnapshot, AssignmentSnapshot, EndpointSnapshot, HostSnapshot } from '@berth/contracts';
import {
  PlatformError,
  can,
  type EndpointId,
  type HostId,
  type KeyGrant,
  type Scope,
  type WorkerId,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import { SnapshotLookup } from './snapshot-lookup.js';
import type { ControlPlaneSnapshots } from './snapshots.port.js';
import { countAssigned, placementOf, type AssignedCounts, type Placement } from './assigned-counts.js';

export type { AssignedCounts } from './assigned-counts.js';

export interface EndpointDirectoryOptions {
  readonly snapshots: ControlPlaneSnapshots;
  readonly clock: Clock;
}

export interface AssignedStaff {
  readonly assignment: AssignmentSnapshot | null;
  /** Infinite where it is not known. */
  readonly workersMax: number;
}

/** The router's knowledge of the control plane: endpoints, keys, hosts and where workers are. */
export class EndpointDirectory {
  readonly #snapshots: ControlPlaneSnapshots;
  readonly #clock: Clock;
  readonly #endpoints: SnapshotLookup<EndpointSnapshot>;
  readonly #apiKeys: SnapshotLookup<ApiKeySnapshot>;
  readonly #hosts: SnapshotLookup<HostSnapshot>;
  readonly #assignments: SnapshotLookup<AssignmentSnapshot>;

  constructor({ snapshots, clock }: EndpointDirectoryOptions) {
    this.#snapshots = snapshots;
    this.#clock = clock;
    this.#endpoints = new SnapshotLookup(snapshots.endpoints, clock);
    this.#apiKeys = new SnapshotLookup(snapshots.apiKeys, clock);
    this.#hosts = new SnapshotLookup(snapshots.hosts, clock);
    this.#assignments = new SnapshotLookup(snapshots.assignments, clock);
  }

  /**
   * The endpoint, for a caller who may do what the scope says.
   *
   * @throws PlatformError `endpoint-not-found` for one that is unknown, foreign or deleted; `scope-missing`
   */
  async authorize(caller: KeyGrant, endpointId: string, scope: Scope): Promise<EndpointSnapshot> {
    const endpoint = await this.findEndpoint(endpointId);
    const verdict = can(caller, { scope, endpoint }, this.#clock.nowMs());
    if (verdict.kind === 'refused') throw new PlatformError(verdict.code, verdict.detail);
    if (endpoint === null) throw new PlatformError('endpoint-not-found', 'No such endpoint.');
    return endpoint;
  }

  /**
   * Like `authorize`, for paths that only an endpoint with a queue has.
   *
   * @throws PlatformError also `wrong-endpoint-type`
   */
  async authorizeQueue(caller: KeyGrant, endpointId: string, scope: Scope): Promise<EndpointSnapshot> {
    const endpoint = await this.authorize(caller, endpointId, scope);
    if (endpoint.type === 'QUEUE') return endpoint;
    throw new PlatformError(
      'wrong-endpoint-type',
      'This is a load-balancer endpoint: it has no queue and takes no jobs. Send requests to its own base URL.',
    );
  }

  /** Also of an endpoint that was deleted; null: there is none, or none any more. */
  snapshotOf(endpointId: EndpointId): Promise<EndpointSnapshot | null> {
    return this.#endpoints.find(endpointId);
  }

  /** As this router knows it at this instant; null: not at all. */
  knownEndpoint(endpointId: EndpointId): EndpointSnapshot | null {
    return this.#snapshots.endpoints.get(endpointId) ?? null;
  }

  /** Null also for an endpoint that was deleted. */
  async findEndpoint(endpointId: string): Promise<EndpointSnapshot | null> {
    const endpoint = await this.#endpoints.find(endpointId);
    return endpoint === null || endpoint.isDeleted ? null : endpoint;
  }

  /** The key as memory has it, without a question to anybody. */
  knownApiKey(prefix: string): ApiKeySnapshot | undefined {
    return this.#snapshots.apiKeys.get(prefix);
  }

  /** Null for a key that was never issued or is revoked. */
  findApiKey(prefix: string): Promise<ApiKeySnapshot | null> {
    return this.#apiKeys.find(prefix);
  }

  /** Null for a host that may do nothing. */
  findHost(hostId: HostId): Promise<HostSnapshot | null> {
    return this.#hosts.find(hostId);
  }

  /** Where memory knows of no such place, the bucket is read once: an agent may be faster than the watch. */
  async placement(endpointId: EndpointId, worker: { hostId: HostId; workerId: WorkerId }): Promise<Placement> {
    const known = placementOf(this.#snapshots.assignments.get(endpointId), worker);
    if (known !== 'not-placed') return known;
    return placementOf(await this.#assignments.fetch(endpointId), worker);
  }

  /** The endpoint's workers as memory has them; null: none. */
  assignmentOf(endpointId: EndpointId): AssignmentSnapshot | null {
    return this.#snapshots.assignments.get(endpointId) ?? null;
  }

  /** Memory is as the bucket is now. @throws PlatformError `service-unavailable` */
  async refreshAssignment(endpointId: EndpointId): Promise<void> {
    await this.#assignments.fetch(endpointId);
  }

  /** Workers of the endpoint that are up and take jobs, as far as memory knows. */
  readyWorkers(endpointId: EndpointId): number {
    return countAssigned(this.#snapshots.assignments.get(endpointId) ?? null).ready;
  }

  /** The endpoint's workers as memory has them, and how many it may have. */
  staffing(endpointId: EndpointId): AssignedStaff {
    const { assignments, endpoints } = this.#snapshots;
    return {
      assignment: assignments.get(endpointId) ?? null,
      workersMax: endpoints.get(endpointId)?.workersMax ?? Number.POSITIVE_INFINITY,
    };
  }

  /** The endpoint's workers by what they do. */
  async workerCounts(endpointId: EndpointId): Promise<AssignedCounts> {
    return countAssigned(await this.#assignments.find(endpointId));
  }
}
