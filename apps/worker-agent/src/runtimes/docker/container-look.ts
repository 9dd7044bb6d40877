import type { ContainerInspectInfo } from 'dockerode';
import {
  VOLUME_PATH,
  VOLUME_SIZE_NOTE,
  type ContainerExit,
  type OwnedContainer,
  type OwnedContainerState,
} from '../container-runtime.port.js';
import { signalName } from '../signal-name.js';
import { DISK_LABEL, fromEngineLabels } from './container-options.js';

const SIGKILL_EXIT_CODE = 137;
const SIGNAL_BASE = 128;
const MIB = 1024 * 1024;
const GB = 1e9;

/**
 * What the engine's description of a container means; null when it is none of ours.
 *
 * @param network that of the workers; `notes`: what of their confinement containers lack now, one sentence each
 */
export function ownedOf(
  look: ContainerInspectInfo,
  network: { readonly name: string; readonly notes: readonly string[] },
): OwnedContainer | null {
  const labels = fromEngineLabels(look.Config.Labels);
  if (labels === null) return null;
  const state = stateOf(look);
  const startedAtMs = state.kind === 'created' ? null : Date.parse(look.State.StartedAt);
  const notes = [...notesOn(look), ...network.notes];
  return { containerId: look.Id, labels, state, startedAtMs, ...addressOn(look, network.name), notes };
}

/** Its own in the workers' network: nothing of it is published. An engine says an empty one of what does not run. */
function addressOn({ NetworkSettings }: ContainerInspectInfo, network: string): Pick<OwnedContainer, 'address'> {
  const address = NetworkSettings.Networks[network]?.IPAddress ?? '';
  return address === '' ? {} : { address };
}

function notesOn({ Config, HostConfig, Mounts }: ContainerInspectInfo): readonly string[] {
  const wantedBytes = Number(Config.Labels[DISK_LABEL] ?? 0);
  const isDiskKept = wantedBytes === 0 || HostConfig.StorageOpt?.['size'] !== undefined;
  const wantedGb = String(Math.round(wantedBytes / GB));
  const volumes = Object.keys(Config.Volumes ?? {});
  const hasNetworkVolume = Mounts.some(({ Destination }) => Destination === VOLUME_PATH);
  return [
    ...(hasNetworkVolume ? [VOLUME_SIZE_NOTE] : []),
    ...(isDiskKept
      ? []
      : [`The disk limit of ${wantedGb} GB is not kept: the storage of the host's engine cannot limit a container.`]),
    ...(volumes.length === 0
      ? []
      : [`The image declares volumes (${volumes.join(', ')}): what is written there is bounded by no disk limit.`]),
  ];
}

function stateOf({ State: state, HostConfig: { Memory: memoryBytes = 0 } }: ContainerInspectInfo): OwnedContainerState {
  if (state.Status === 'created') return { kind: 'created' };
  // A paused one runs too, in the engine's words.
  if (state.Paused) return { kind: 'paused' };
  if (state.Running) return { kind: 'running' };
  return { kind: 'ended', exit: exitOf(state, memoryBytes) };
}

function exitOf(
  { OOMKilled, ExitCode: code, Error: error }: ContainerInspectInfo['State'],
  memoryBytes: number,
): ContainerExit {
  if (OOMKilled) {
    const killed = code === SIGKILL_EXIT_CODE ? 'killed, ' : '';
    const detail = `${killed}out of memory: its limit is ${String(Math.round(memoryBytes / MIB))} MiB`;
    return { code, cause: 'out-of-memory', detail };
  }
  const suffix = error === '' ? '' : `: ${error}`;
  if (code === SIGKILL_EXIT_CODE) return { code, cause: 'killed', detail: `killed${suffix}` };
  if (code > SIGNAL_BASE)
    return { code, cause: 'killed', detail: `ended by ${signalName(code - SIGNAL_BASE)}${suffix}` };
  return { code, cause: 'exited', detail: `exited with code ${String(code)}${suffix}` };
}
