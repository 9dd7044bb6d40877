import type {
  AccountId,
  ContainerSpec,
  EndpointId,
  HostId,
  Inventory,
  ObservedWorker,
  WorkerId,
  WorkerIntent,
  WorkerResources,
} from '@berth/domain';

/**
 * First message of a new agent. The agent makes its secret and stores it before it joins, so a lost reply is mended by
 * joining again with the same token and the same secret.
 */
export interface JoinRequest {
  readonly token: string;
  /** Lower-case hex SHA-256 of the secret that the agent will authenticate with. */
  readonly secretHash: string;
  readonly inventory: Inventory;
}

export interface JoinReply {
  readonly hostId: HostId;
  readonly dataCenterId: string;
}

/** Heartbeat, inventory and observation in one; sent every `REPORT_INTERVAL_MS`, and at once when something changed. */
export interface ReportRequest {
  /** Proves the host where the broker does not. */
  readonly secret: string;
  /** New with every start of the agent. */
  readonly instanceId: string;
  /** Grows with every report of one instance; an older one is dropped. */
  readonly sequence: number;
  /** When it was sent, by the host's own clock: what it says of instants is believed as how long ago they were. */
  readonly sentAtMs?: number;
  readonly inventory: Inventory;
  /** Every worker on this host: the whole truth, not a change. */
  readonly workers: readonly ObservedWorker[];
  /** Of the volumes that the last answer named as deleted: those whose files are gone. Absent: none. */
  readonly clearedVolumeIds?: readonly string[];
  /**
   * Endpoints of which it keeps logs, though it is to have no worker of theirs: it hears which of them are no more. At most
   * `SPOOLED_ENDPOINTS_MAX`; absent: none.
   */
  readonly spooledEndpointIds?: readonly EndpointId[];
}

export const REPORT_INTERVAL_MS = 5_000;

/** With which a host pulls a private image. Never logged, never written to a disk. */
export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

/** A network volume on the storage of a host. */
export interface HostVolume {
  readonly id: string;
  readonly accountId: string;
}

/** The network volume that a worker has. */
export interface WorkerVolume extends HostVolume {
  readonly sizeGb: number;
}

/** A GPU type as the operator's catalog has it. */
export interface CatalogedGpu {
  readonly id: string;
  /** Null: it is in no serverless pool. */
  readonly pool: string | null;
}

/** What the control plane wants of one worker on this host. */
export interface DesiredWorker {
  readonly workerId: WorkerId;
  readonly endpointId: EndpointId;
  /**
   * Whose it is: what a registry gave to one account is no other's, and its log counts for this one. Absent from an older
   * control plane.
   */
  readonly accountId?: AccountId;
  readonly release: number;
  /** `paused` is said only to a host whose inventory has `canPause`: agents before it do not know the word. */
  readonly intent: WorkerIntent;
  readonly container: ContainerSpec;
  /** What the release's image stands for, `sha256:…`; absent until one host has told it. */
  readonly imageDigest?: string;
  /** Absent where the image is public, and once the worker shall go. */
  readonly registryCredentials?: RegistryCredentials;
  readonly resources: WorkerResources;
  /**
   * What the catalog has of its card, which `resources` names as the driver does. Absent without a GPU, and from an older
   * control plane.
   */
  readonly gpuType?: CatalogedGpu;
  readonly endpointType: 'QUEUE' | 'LOAD_BALANCER';
  /**
   * How many requests a load-balanced worker takes at a time: its endpoint's `requestCount`. Absent of a queue's, and from
   * an older control plane.
   */
  readonly slots?: number;
  /** Lies on the storage that the host named; absent: it has none. */
  readonly volume?: WorkerVolume;
  /** Longest execution a running job, or request, may still need when the worker drains, in ms. */
  readonly executionTimeoutMs: number;
  /** Grows when an operator asks for a restart. */
  readonly restarts: number;
  /**
   * Of a drained worker that is to leave for want of jobs: no sooner than this long after the end of its last one, by the
   * agent's own clock. Absent: at once.
   */
  readonly leavesAfterIdleMs?: number;
  /** The same of a worker that is to be paused: no sooner than this long after the end of its last job. */
  readonly pausesAfterIdleMs?: number;
  /**
   * Why its container, which has no variables here, could not be opened, for people: nothing is started for it, and what
   * runs goes on. Absent: it is whole.
   */
  readonly unopenable?: string;
}

/** An image that a host is to have ready for a release that follows another one there (ADR 0064). */
export interface WantedImage {
  readonly endpointId: EndpointId;
  readonly release: number;
  /** Whose it is, as of a worker. */
  readonly accountId: AccountId;
  readonly image: string;
  /** What it stands for, `sha256:…`; absent until one host has told it. */
  readonly imageDigest?: string;
  /** Absent where the image is public. */
  readonly registryCredentials?: RegistryCredentials;
}

/** Of one answer; the others are named once these are no longer wanted. */
export const IMAGES_AHEAD_MAX = 8;

/** What of a report could not be read. The rest of it was taken. */
export interface DroppedEntries {
  readonly count: number;
  /** The first of them. */
  readonly examples: readonly DroppedEntry[];
}

export interface DroppedEntry {
  /** Where it stands in the report: `workers[3]`. */
  readonly member: string;
  /** For people. */
  readonly reason: string;
}

/** The most that one wake names; of others its host hears by its next report. */
export const RESUMED_IDS_MAX = 1_024;

/** Why an agent is woken, as far as it can act on it before it has asked. An older control plane sends nothing. */
export interface WakeMessage {
  /** Paused workers that shall run again. A hint: what is so is said by the next `HostReply`. */
  readonly resumedIds: readonly WorkerId[];
  /** Nothing else has changed: it need not ask at once. Not said of what may be more, or by an older control plane. */
  readonly isAll?: boolean;
}

export interface HostReply {
  /** Every worker that this host shall have: what is not named here must go. */
  readonly desired: readonly DesiredWorker[];
  readonly dataCenterId: string;
  /** Of the endpoints that the report named as spooled: those whose logs must go. Absent: none. */
  readonly deletedEndpointIds?: readonly EndpointId[];
  /** Absent where the whole report was taken. */
  readonly dropped?: DroppedEntries;
  /** Volumes of the host's storage whose files shall go, named until some host says that they are gone. Absent: none. */
  readonly deletedVolumes?: readonly HostVolume[];
  /** Images to prepare when no worker waits for one; said only to hosts whose inventory has `imagesAhead`. Absent: none. */
  readonly imagesAhead?: readonly WantedImage[];
}

/** Of one answer; the others are named once these are gone. */
export const DELETED_VOLUMES_MAX = 64;
