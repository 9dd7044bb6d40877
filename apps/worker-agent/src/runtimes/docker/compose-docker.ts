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
}

export async function openDocker(
  { clock, logger, metrics, onStop }: OpenProcess,
  { confinement, engines }: DockerConfig,
  { bridge, home, hostId, onRemoving, ...reported }: RuntimeParts,
): Promise<OpenRuntime> {
  const { access: engine, source } = await findEngine(engines);
  logger.info('container engine found', { engine: engine.name, source });
  const machine = new Machine({ ...reported, diskFolder: home, clock, logger });
  const runtime = await DockerRuntime.open({
    ...{ engine, machine, hostId, bridge, confinement, onRemoving },
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
