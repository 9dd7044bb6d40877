import { GIB, engineCandidates, type EngineCandidate } from '@berth/domain';
import type { ConfigReader } from '@berth/lifecycle';
import type { OpenProcess } from '@berth/telemetry';
import type { OpenRuntime, RuntimeDriver, RuntimeParts } from '../open-runtime.js';
import { machineIn } from '../machine/machine-in.js';
import { readConfinement, type ConfinementPolicy } from './confinement/confinement-policy.js';
import { DockerRuntime } from './docker-runtime.js';
import { dataFolderOf, findEngine } from './engine-access.js';

export interface DockerConfig {
  readonly kind: 'docker';
  /** Where an engine may answer, best first. */
  readonly engines: readonly EngineCandidate[];
  readonly confinement: ConfinementPolicy;
  /** What images that the agent has pulled may take together; null: half of the room that there is. */
  readonly imagesBytesMax: number | null;
}

const IMAGES_MAX_GIB = 2 ** 20;
const IMAGES_GIB =
  'What images that the agent has pulled may take; beyond it those go that were used longest ago and no container is made ' +
  'of. `0`: half of the room that there is.';
const DOCKER_SOCKET =
  'Path or address of the container engine. Without it `DOCKER_HOST`, or the first of the usual sockets of Docker and ' +
  'Podman that answers.';

function readConfig(read: ConfigReader): DockerConfig {
  const choices = engineCandidates({
    BERTH_DOCKER_SOCKET: asGiven(read.optional('BERTH_DOCKER_SOCKET', DOCKER_SOCKET)),
    DOCKER_HOST: asGiven(read.optional('DOCKER_HOST', "The same, as the engine's own client reads it.")),
    DOCKER_TLS_VERIFY: asGiven(read.optional('DOCKER_TLS_VERIFY', 'Any value: the engine is reached over TLS.')),
    DOCKER_CERT_PATH: asGiven(read.optional('DOCKER_CERT_PATH', 'Folder of the certificates for it.')),
    XDG_RUNTIME_DIR: asGiven(read.optional('XDG_RUNTIME_DIR', "Folder of the sockets of a user's own engine.")),
    HOME: asGiven(read.optional('HOME', 'Has `.docker`, where no `DOCKER_CERT_PATH` is.')),
  });
  if (choices.kind === 'unusable') read.problems.push(`${choices.setting}: ${choices.detail}`);
  const engines = choices.kind === 'candidates' ? choices.candidates : [];
  const imagesGib = read.integer('BERTH_IMAGES_GIB', IMAGES_GIB, {
    min: 0,
    max: IMAGES_MAX_GIB,
    fallback: 0,
    unit: 'GiB',
  });
  const imagesBytesMax = imagesGib === 0 ? null : imagesGib * GIB;
  return { kind: 'docker', engines, confinement: readConfinement(read), imagesBytesMax };
}

const asGiven = (value: string | null): string | undefined => value ?? undefined;

async function open(
  { clock, logger, metrics, onStop }: OpenProcess,
  { confinement, engines, imagesBytesMax }: DockerConfig,
  { bridge, home, hostId, onRemoving, ...reported }: RuntimeParts,
): Promise<OpenRuntime> {
  const { access: engine, source } = await findEngine(engines);
  logger.info('container engine found', { engine: engine.name, source });
  const dataFolder = await dataFolderOf(engine);
  if (dataFolder === null) {
    const what = "the engine's own folder cannot be seen from here; the room on the disk is that of BERTH_HOME's";
    logger.warn(what, { engine: engine.name, home });
  }
  const machine = machineIn(home, reported, { clock, logger, diskFolder: dataFolder ?? home });
  const runtime = await DockerRuntime.open({
    ...{ engine, machine, home, hostId, bridge, confinement, onRemoving },
    imagesBytesMax,
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

/** Containers reach the host by a name that they are given for it. */
export const DOCKER: RuntimeDriver<DockerConfig> = {
  kind: 'docker',
  bridge: { host: 'berth-host', listenHost: null },
  readConfig,
  open,
};
