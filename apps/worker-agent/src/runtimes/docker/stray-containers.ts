import type { HostId } from '@berth/domain';
import type { Logger } from '@berth/telemetry';
import type Dockerode from 'dockerode';
import { HOST_LABEL } from './container-options.js';
import { hasStatus } from './engine-errors.js';
import type { WorkerNetwork } from './worker-network.js';

interface Surroundings {
  readonly hostId: HostId;
  readonly network: WorkerNetwork;
  readonly logger: Logger;
}

/**
 * Removes this host's containers that are not in its network alone, such as those of an agent before it had one:
 * nothing confines them, and they would not find the bridge. Their workers are started anew.
 */
export async function removeStrays(engine: Dockerode, { hostId, network, logger }: Surroundings): Promise<void> {
  const filters = JSON.stringify({ label: [`${HOST_LABEL}=${hostId}`] });
  for (const { Id, HostConfig, NetworkSettings } of await engine.listContainers({ all: true, filters })) {
    const networks = Object.keys(NetworkSettings?.Networks ?? {});
    const isAlone = HostConfig.NetworkMode === network.name && networks.every((name) => name === network.name);
    if (isAlone) continue;
    logger.warn('a container was in another network than the workers’ own and is removed', {
      containerId: Id,
      networks,
    });
    try {
      await engine.getContainer(Id).remove({ force: true, v: true });
    } catch (error) {
      if (!hasStatus(error, 404, 409)) throw error;
    }
  }
}
