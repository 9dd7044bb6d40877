import type { HostId } from '@berth/domain';
import type { Logger } from '@berth/telemetry';
import type Dockerode from 'dockerode';
import type { ContainerInfo } from 'dockerode';
import { HOST_LABEL, fromEngineLabels } from '../container-options.js';
import type { OnRemoving, RemovedContainer } from '../../open-runtime.js';
import { hasStatus } from '../engine-errors.js';
import type { WorkerNetwork } from './worker-network.js';

interface Surroundings {
  readonly hostId: HostId;
  readonly network: WorkerNetwork;
  readonly logger: Logger;
  /** Told before any of them goes, so that it can be written down whose jobs must not pay for it. */
  readonly onRemoving: OnRemoving;
}

/** What one that has not ended may be in, in the engine's words. */
const RUNNING_STATES: readonly string[] = ['running', 'paused', 'restarting'];

/**
 * Removes this host's containers that are not in its network alone, such as those of an agent before it had one:
 * nothing confines them, and they would not find the bridge. Their workers are started anew.
 */
export async function removeStrays(engine: Dockerode, surroundings: Surroundings): Promise<void> {
  const { hostId, network, logger, onRemoving } = surroundings;
  const filters = JSON.stringify({ label: [`${HOST_LABEL}=${hostId}`] });
  const found = await engine.listContainers({ all: true, filters });
  const strays = found.filter((container) => !isAloneIn(network, container));
  const running = strays.filter(({ State }) => RUNNING_STATES.includes(State));
  await onRemoving(running.flatMap(removedOf));
  for (const stray of strays) {
    logger.warn('a container was in another network than the workers’ own and is removed', {
      containerId: stray.Id,
      networks: networksOf(stray),
    });
    try {
      await engine.getContainer(stray.Id).remove({ force: true, v: true });
    } catch (error) {
      if (!hasStatus(error, 404, 409)) throw error;
    }
  }
}

const networksOf = ({ NetworkSettings }: ContainerInfo): readonly string[] =>
  Object.keys(NetworkSettings?.Networks ?? {});

const isAloneIn = ({ name }: WorkerNetwork, container: ContainerInfo): boolean =>
  container.HostConfig.NetworkMode === name && networksOf(container).every((network) => network === name);

function removedOf({ Id, Labels }: ContainerInfo): readonly RemovedContainer[] {
  const labels = fromEngineLabels(Labels);
  return labels === null ? [] : [{ workerId: labels.workerId, containerId: Id }];
}
