import { VOLUME_PATH_VARIABLE, type ContainerStart } from '../container-runtime.port.js';
import { visibleDevices, type HeldGpus } from '../machine/held-gpus.js';
import type { WorkerFolder } from './worker-folder.js';

/** Marks every process of a worker, also one that left its group. */
export const MARK_VARIABLE = 'BERTH_WORKER_FOLDER';

export interface Launch extends ContainerStart {
  readonly gpus: HeldGpus;
  /** Null for a worker without GPU. */
  readonly cudaVersion: string | null;
}

/** @param inherited what every worker of this host has */
export const launchEnvironment = (
  { cudaVersion, env, gpus, volumeFolder }: Launch,
  folder: Pick<WorkerFolder, 'path' | 'temporary' | 'work'>,
  inherited: Readonly<Record<string, string>>,
): Record<string, string> => ({
  ...inherited,
  // Not the operator's home: the SDK would take an API key that it finds there for its own (wire contract 1.2).
  HOME: folder.work,
  TMPDIR: folder.temporary,
  // Of a container its image knows better: there it is the version of what is installed.
  ...(cudaVersion === null ? {} : { CUDA_VERSION: cudaVersion }),
  ...env,
  ...visibleDevices(gpus),
  ...(volumeFolder === undefined ? {} : { [VOLUME_PATH_VARIABLE]: volumeFolder }),
  [MARK_VARIABLE]: folder.path,
});
