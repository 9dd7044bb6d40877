import type { RuntimeKind } from '@berth/domain';
import { StartupError, type OpenProcess } from '@berth/telemetry';
import { DOCKER } from './docker/compose-docker.js';
import { KUBERNETES } from './kubernetes/compose-kubernetes.js';
import type { OpenRuntime, RuntimeDriver, RuntimeParts } from './open-runtime.js';
import { PROCESS } from './process/compose-process.js';
import { RuntimeError } from './runtime-error.js';

/** Every runtime that there is; the first is the one of a host that names none. */
const DRIVERS = [DOCKER, PROCESS, KUBERNETES] as const;

export type RuntimeConfig = ReturnType<(typeof DRIVERS)[number]['readConfig']>;

export const RUNTIMES: readonly [RuntimeDriver<RuntimeConfig>, ...RuntimeDriver<RuntimeConfig>[]] = DRIVERS;

/** The first where no runtime is of that kind. */
export const runtimeOf = (kind: RuntimeKind): RuntimeDriver<RuntimeConfig> =>
  RUNTIMES.find((each) => each.kind === kind) ?? RUNTIMES[0];

/** @throws StartupError when containers cannot be run here */
export async function composeRuntime(
  process: OpenProcess,
  config: RuntimeConfig,
  parts: RuntimeParts,
): Promise<OpenRuntime> {
  const opening = runtimeOf(config.kind).open(process, config, parts);
  const { confine, ...opened } = await opening.catch(throwStartup);
  process.onStop('container runtime', () => opened.runtime.close());
  return { ...opened, confine: (bridgePort) => confine(bridgePort).catch(throwStartup) };
}

function throwStartup(error: unknown): never {
  if (error instanceof RuntimeError) throw new StartupError(error.message, { cause: error });
  throw error;
}
