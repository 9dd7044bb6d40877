import type { EngineCandidate } from '@berth/domain';
import type { OpenProcess } from '@berth/telemetry';
import type { OpenRuntime, RuntimeParts } from '../open-runtime.js';
import { Machine } from '../machine/machine.js';
import type { ConfinementPolicy } from './confinement/confinement-policy.js';
import { DockerRuntime } from './docker-runtime.js';
import { findEngine } from './engine-access.js';

export interface DockerConfig {
  readonly kind: 'docker';
  /** Where an engine may answer, best first. */
  readonly engines: readonly EngineCandidate[];
  readonly confinement: ConfinementPolicy;
  /** What images that the agent has pulled may take together; null: half of the room that there is. */
  readonly imagesBytesMax: number | null;
}

const SHARE_OF_ROOM = 0.5;

export async function openDocker(
  { clock, logger, metrics, onStop }: OpenProcess,
  { confinement, engines, imagesBytesMax }: DockerConfig,
  { bridge, home, hostId, onRemoving, ...reported }: RuntimeParts,
): Promise<OpenRuntime> {
  const { access: engine, source } = await findEngine(engines);
  logger.info('container engine found', { engine: engine.name, source });
  const machine = new Machine({ ...reported, diskFolder: home, clock, logger });
  const { diskBytes } = await machine.inventory({ runtime: 'docker', images: [] });
  const runtime = await DockerRuntime.open({
    ...{ engine, machine, home, hostId, bridge, confinement, onRemoving },
    imagesBytesMax: imagesBytesMax ?? diskBytes * SHARE_OF_ROOM,
    ...{ clock, logger, metrics },
  });
  // Containers that outlive the agent stay confined.
  onStop('worker network', async () => {
    if ((await runtime.list()).length === 0) await runtime.network.remove();
  });
  return {
    runtime,
    listenHost: runtime.network.listenHost,
    confine: (port) => runtime.network.confine(port),
  };
}
