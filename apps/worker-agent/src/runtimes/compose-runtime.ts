import { StartupError, type OpenProcess } from '@berth/telemetry';
import { openDocker, type DockerConfig } from './docker/compose-docker.js';
import type { OpenRuntime, RuntimeParts } from './open-runtime.js';
import { openProcesses, type ProcessConfig } from './process/compose-process.js';
import { RuntimeError } from './runtime-error.js';

export type RuntimeConfig = DockerConfig | ProcessConfig;

/** @throws StartupError when containers cannot be run here */
export async function composeRuntime(
  process: OpenProcess,
  config: RuntimeConfig,
  parts: RuntimeParts,
): Promise<OpenRuntime> {
  const opening = config.kind === 'docker' ? openDocker(process, config, parts) : openProcesses(process, config, parts);
  const { confine, ...opened } = await opening.catch(throwStartup);
  process.onStop('container runtime', () => opened.runtime.close());
  return { ...opened, confine: (bridgePort) => confine(bridgePort).catch(throwStartup) };
}

function throwStartup(error: unknown): never {
  if (error instanceof RuntimeError) throw new StartupError(error.message, { cause: error });
  throw error;
}
