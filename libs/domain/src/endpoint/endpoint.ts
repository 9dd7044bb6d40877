import type { CpuRequest, GpuRequest } from '../hardware-request/index.js';
import type { AccountId, EndpointId } from '../ids.js';

export type EndpointType = 'QUEUE' | 'LOAD_BALANCER';
/** Whether idle workers are kept paused for a faster start. */
export const FLASHBOOT_MODES = ['OFF', 'FLASHBOOT', 'PRIORITY_FLASHBOOT'] as const;
export type Flashboot = (typeof FLASHBOOT_MODES)[number];

export type Scaling =
  | { readonly type: 'QUEUE_DELAY'; readonly queueDelaySeconds: number }
  | { readonly type: 'REQUEST_COUNT'; readonly requestCount: number };

export interface WorkerRange {
  readonly min: number;
  readonly max: number;
  /** Seconds an idle worker stays; null where the scaler has none (`QUEUE` with `REQUEST_COUNT`). */
  readonly idleTimeoutSeconds: number | null;
}

/** The parts of which a worker's container is made. */
export interface ContainerSpec {
  readonly image: string;
  /** One string, split into words like a POSIX shell does when the container starts. */
  readonly args: string;
  /** Null: the operator's default. */
  readonly diskGb: number | null;
  readonly env: Readonly<Record<string, string>>;
  /** `port/protocol` each. */
  readonly ports: readonly string[];
  readonly registryId: string | null;
}

/** Callers of a load-balanced endpoint that need no API key. */
export interface LoadBalancerAccess {
  /** Everybody, with every request. */
  readonly isPublic: boolean;
  /** Browsers that ask whether another origin may call: such requests never carry a key. */
  readonly allowsPreflights: boolean;
}

/** The settings of a request, in the form in which they are kept. */
export interface EndpointSettings {
  readonly name: string;
  readonly dataCenterIds: readonly string[];
  readonly networkVolumeIds: readonly string[];
  readonly flashboot: Flashboot;
  /** Execution time limit of a job without its own policy, in ms. */
  readonly executionTimeoutMs: number;
  /** Absent: nobody comes without a key. Of a queue: always. */
  readonly loadBalancer?: LoadBalancerAccess;
}

/** The configuration of a tenant. Only the management API writes it. */
export interface EndpointSpec extends EndpointSettings {
  readonly type: EndpointType;
  readonly container: ContainerSpec;
  readonly scaling: Scaling;
  readonly workers: WorkerRange;
  /** Exactly one of `gpu` and `cpu` is set. */
  readonly gpu: GpuRequest | null;
  readonly cpu: readonly CpuRequest[] | null;
}

export interface Endpoint {
  readonly id: EndpointId;
  readonly accountId: AccountId;
  readonly spec: EndpointSpec;
  /** Ordinal of the latest release, from 1: of what its workers are made of. */
  readonly release: number;
  /** Counts its changes of every kind, from 1. */
  readonly version: number;
  readonly createdAtMs: number;
}
