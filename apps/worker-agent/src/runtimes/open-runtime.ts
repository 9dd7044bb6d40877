import type { HostId } from '@berth/domain';
import type { ContainerRuntime } from './container-runtime.port.js';
import type { DockerRuntimeOptions } from './docker/docker-runtime.js';
import type { MachineOptions } from './machine/machine.js';

/** What every runtime is opened with, whichever it is. */
export interface RuntimeParts extends Pick<MachineOptions, 'simulatedGpus' | 'vcpus'> {
  readonly hostId: HostId;
  /** The agent's own folder. */
  readonly home: string;
  readonly bridge: DockerRuntimeOptions['bridge'];
  readonly onRemoving: DockerRuntimeOptions['onRemoving'];
}

/** A runtime, and how its workers reach their agent. */
export interface OpenRuntime {
  readonly runtime: ContainerRuntime;
  readonly listenHost: string;
  /** Called once, when the bridge has its port and before any worker is started. */
  readonly confine: (bridgePort: number) => Promise<void>;
}
