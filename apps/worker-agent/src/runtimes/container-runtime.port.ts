import type { RegistryCredentials } from '@berth/contracts';
import type { AccountId, EndpointId, HostId, Inventory, WorkerId } from '@berth/domain';

/** Everything about a container that must survive the agent: it is written on the container itself. */
export interface ContainerLabels {
  readonly hostId: HostId;
  readonly workerId: WorkerId;
  readonly endpointId: EndpointId;
  readonly release: number;
  readonly image: string;
  /** What the name stood for when it was started, `sha256:…`; absent where no registry gave it. */
  readonly imageDigest?: string;
}

export interface ImageRequest {
  readonly image: string;
  /** For a private registry; null where none are needed. */
  readonly credentials: RegistryCredentials | null;
  /** What the name stands for by now does not count: this is what was meant. Absent: whatever it stands for. */
  readonly digest?: string;
  /** The account that wants to start it: what a registry gave to one account is no other's. Absent: the operator. */
  readonly accountId?: AccountId;
}

/** What a container may use. */
interface ContainerLimits {
  readonly vcpus: number;
  readonly memoryBytes: number;
  /** Null: whatever the host has. */
  readonly diskBytes: number | null;
}

/** Whole GPUs of one type; which ones of the host's they are, the runtime decides. */
export interface DeviceRequest {
  /** Catalog id. */
  readonly typeId: string;
  /** At least 1. */
  readonly count: number;
}

export interface ContainerStart {
  readonly labels: ContainerLabels;
  /** Words after the image's own command. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly limits: ContainerLimits;
  /** Null for a CPU worker, which sees none. It holds them until it is removed. */
  readonly gpu: DeviceRequest | null;
  /** Folder of this host that it has as its network volume, to read and write; absent: it has none. */
  readonly volumeFolder?: string;
  /** For the image's private registry, which an engine may ask again at the start; absent: none are needed. Never kept. */
  readonly credentials?: RegistryCredentials;
}

/** Tells a worker with a network volume where it finds that: at `VOLUME_PATH`, where the runtime can put it there. */
export const VOLUME_PATH_VARIABLE = 'BERTH_VOLUME_PATH';
/** Where workers look for their network volume (wire contract 1.16). */
export const VOLUME_PATH = '/runpod-volume';
export const VOLUME_SIZE_NOTE = "The size of the network volume is not enforced by its host's storage.";

export interface ContainerExit {
  /** Null where nobody could know it: the machine went down, or the container was killed from outside. */
  readonly code: number | null;
  /** `evicted`: its host was taken from it, by whoever rules over that; it costs the worker's jobs nothing. */
  readonly cause: 'exited' | 'killed' | 'out-of-memory' | 'evicted' | 'unknown';
  /** For people, one line. */
  readonly detail: string;
}

/** `created`: prepared, but its program has not been started, because somebody was interrupted. */
export type OwnedContainerState =
  | { readonly kind: 'created' }
  | { readonly kind: 'running' }
  /** Frozen by `freezer.pause`: it keeps its memory and files, and no instruction of it runs. */
  | { readonly kind: 'paused' }
  | { readonly kind: 'ended'; readonly exit: ContainerExit };

/** The address of what shares this machine's network: its own addresses, of either kind. */
export const OWN_MACHINE = 'localhost';

export interface OwnedContainer {
  /** Names this one life of the worker: new with every start. */
  readonly containerId: string;
  readonly labels: ContainerLabels;
  readonly state: OwnedContainerState;
  /** Unix ms at which its program was started; null while `created`. */
  readonly startedAtMs: number | null;
  /** It runs, and whoever rules over its host has asked it to end; absent: nobody has. */
  readonly isTakenAway?: boolean;
  /** Where this machine reaches what it listens on while it runs, or `OWN_MACHINE`; absent where that is not known. */
  readonly address?: string;
  /** What of the start's wish the host does not keep, one sentence each; absent where nothing is known to be amiss. */
  readonly notes?: readonly string[];
}

export interface CallOptions {
  /** Aborting rejects with reason `cancelled`; what was half done is undone or left for `remove`. */
  readonly signal?: AbortSignal;
}

export interface StartOptions extends CallOptions {
  /** Told what keeps the host from going on, for people and without a full stop, whenever that is another thing; null once nothing does. */
  readonly onHeldUp?: (reason: string | null) => void;
}

export interface PrepareOptions extends StartOptions {
  /** Told a line now and then while something long goes on. */
  readonly onProgress?: (line: string) => void;
  /** How much of the image is here, 0 to 100; as often as the engine tells it, where it does. */
  readonly onPercent?: (percent: number) => void;
}

/** One line that a container printed. */
export interface PrintedLine {
  /** Unix ms at which it was printed; null where the runtime does not know. */
  readonly atMs: number | null;
  /** As it was printed, without its end; a very long one comes in pieces. */
  readonly text: string;
}

/** What a container printed after what was printed before. */
export interface PrintedBatch {
  /** At least one, but for a batch that only tells of a gap. */
  readonly lines: readonly PrintedLine[];
  /** Behind the last of them: whoever begins there gets what comes after, once. Means nothing to anybody else. */
  readonly position: string;
  /** Something that was printed before these lines is kept no longer. */
  readonly isGap: boolean;
}

/**
 * Freezes containers and lets them go on. Repeating is harmless; not running, or absent, is success, as it is for `stop`.
 */
export interface ContainerFreezer {
  /**
   * Nothing of the container runs any more once this returns. What it holds, GPU memory too, stays taken.
   * @throws RuntimeError `freeze-failed`, `runtime-unavailable`, `cancelled`
   */
  pause(workerId: WorkerId, options?: CallOptions): Promise<void>;

  /** Lets it go on where it stood. @throws RuntimeError `freeze-failed`, `runtime-unavailable`, `cancelled` */
  resume(workerId: WorkerId, options?: CallOptions): Promise<void>;
}

/**
 * Containers on one host, one per worker, addressed by the worker's id.
 *
 * Every verb may be repeated: what is already so is success. Every rejection is a `RuntimeError`. Nothing here decides:
 * when to start, stop or remove is the reconciler's business. All implementations pass `containerRuntimeConformance`.
 */
export interface ContainerRuntime {
  /** True where what a container listens on takes a port of this machine: it has to be told one that is free. */
  readonly sharesPorts?: boolean;
  /**
   * True where a container of which nobody saw the end, and that is there no longer, can only have been taken away by whoever
   * rules over its host: one that ends by itself stays until it is removed, whoever looks. Its worker's jobs pay nothing for it.
   */
  readonly isTakenAwayWhenGone?: boolean;
  /** Absent where containers cannot be frozen; the inventory says it by `canPause`. */
  readonly freezer?: ContainerFreezer;

  /** What containers can have here: processors, memory, disk, GPUs, and the images that could be started now. */
  inventory(options?: CallOptions): Promise<Inventory>;

  /**
   * Makes the image startable: pulled, or its folder set up. Present already: returns at once.
   * @throws RuntimeError `image-missing`, `image-denied`, `image-unreachable`, `setup-failed`, `disk-full`,
   *   `runtime-unavailable`, `cancelled`
   */
  prepare(request: ImageRequest, options?: PrepareOptions): Promise<void>;

  /**
   * Starts the worker's container and returns once its program has been started. One that runs or is paused is left as
   * it is; one that has ended or never ran is replaced. Broken off by its signal before that, it leaves no container and
   * holds no GPUs, unless the engine does not let it remove what it had made: that is told as `created`.
   * @throws RuntimeError `image-missing`, `no-such-device`, `no-room`, `out-of-memory`, `disk-full`, `start-failed`,
   *   `volume-unavailable`, `runtime-unavailable`, `cancelled`
   */
  start(start: ContainerStart, options?: StartOptions): Promise<OwnedContainer>;

  /** Null when there is none. */
  inspect(workerId: WorkerId, options?: CallOptions): Promise<OwnedContainer | null>;

  /** Every container of this host, whatever its state, also those that an earlier agent started. */
  list(options?: CallOptions): Promise<readonly OwnedContainer[]>;

  /**
   * Asks it to end (SIGTERM) and returns at once. A paused one goes on first, for it could not hear it. The caller waits and calls `kill` when `graceMs` is over; a runtime
   * whose engine counts the grace itself passes it on. Not running, or absent, is success.
   */
  stop(workerId: WorkerId, graceMs: number, options?: CallOptions): Promise<void>;

  /** Ends it now (SIGKILL) with all that it started. Not running, or absent, is success. */
  kill(workerId: WorkerId, options?: CallOptions): Promise<void>;

  /** Kills it if need be, and resolves when nothing of it is left. Absent is success. */
  remove(workerId: WorkerId, options?: CallOptions): Promise<void>;

  /** The last `lines` lines that it printed, oldest first; empty when it is absent. At most `PRINTED_LINES_MAX`. */
  logs(workerId: WorkerId, lines: number, options?: CallOptions): Promise<readonly string[]>;

  /**
   * What the worker's present container prints, in its order, until it has ended and all has been told; at once over where
   * there is no container. As fast as it is iterated: what is not read stays with the container, within bounds.
   *
   * @param position behind which to begin; null, or that of an earlier container of the worker: at the beginning
   * @throws RuntimeError `runtime-unavailable`; an aborted signal ends it without an error
   */
  follow(workerId: WorkerId, position: string | null, signal: AbortSignal): AsyncIterable<PrintedBatch>;

  /** Calls `onChange` soon after a container changed state; a hint, no promise. Returns the function that ends it. */
  watch(onChange: () => void): () => void;

  /** Ends timers and connections. Containers go on. */
  close(): Promise<void>;
}

export const PRINTED_LINES_MAX = 5_000;
