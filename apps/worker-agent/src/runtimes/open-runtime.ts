import type { HostId, RuntimeKind, WorkerId } from '@berth/domain';
import type { ConfigReader, Environment } from '@berth/lifecycle';
import type { OpenProcess } from '@berth/telemetry';
import type { ContainerRuntime } from './container-runtime.port.js';
import type { ReportedMachine } from './machine/machine-in.js';

/** Where the workers of a runtime find their agent. */
export interface RuntimeBridge {
  /** Name or address under which workers reach the agent's bridge. */
  readonly host: string;
  /** Address at which it listens; null: one that the runtime chooses. */
  readonly listenHost: string | null;
}

/** One life of a worker, whose container is about to be removed. */
export interface RemovedContainer {
  readonly workerId: WorkerId;
  readonly containerId: string;
}

/** Told of the workers whose containers a runtime removes by itself; before it does. */
export type OnRemoving = (removed: readonly RemovedContainer[]) => Promise<void>;

/** What every runtime is opened with, whichever it is. */
export interface RuntimeParts extends ReportedMachine {
  readonly hostId: HostId;
  /** The agent's own folder. */
  readonly home: string;
  readonly bridge: RuntimeBridge;
  /** Folder of this agent that network volumes lie in; null: it keeps none. */
  readonly volumesFolder: string | null;
  readonly onRemoving: OnRemoving;
}

/** A runtime, and how its workers reach their agent. */
export interface OpenRuntime {
  readonly runtime: ContainerRuntime;
  readonly listenHost: string;
  /** Called once, when the bridge has its port and before any worker is started. */
  readonly confine: (bridgePort: number) => Promise<void>;
}

/** All that the agent knows of one kind of runtime: the one object that its folder hands out (ADR 0008). */
export interface RuntimeDriver<Config> {
  readonly kind: RuntimeKind;
  /** The address of the bridge where no setting names one. */
  readonly bridge: RuntimeBridge;
  /**
   * Reads the settings that this kind alone has; what cannot be used is noted in the reader's problems.
   * @param environment what workers and their setup get a part of
   */
  readConfig(read: ConfigReader, environment: Environment): Config;
  /** @throws RuntimeError when containers cannot be run here */
  open(process: OpenProcess, config: Config, parts: RuntimeParts): Promise<OpenRuntime>;
}
