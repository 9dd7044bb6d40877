import { mkdtemp } from 'node:fs/promises';

import { dirname, join } from 'node:path';
import type { HostId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { DockerRuntime, type DockerRuntimeOptions } from '../src/runtimes/docker/docker-runtime.js';
import { accessTo } from '../src/runtimes/docker/engine-access.js';
import { testMachine } from './test-machine.js';

/** A port on which nothing listens: the bridge of tests that need none. */
const NO_BRIDGE = 9;

export const POLICY: DockerRuntimeOptions['confinement'] = {
  isRequired: true,
  blockedNetworks: ['10.0.0.0/8', '100.64.0.0/10', '172.16.0.0/12', '192.168.0.0/16'],
  allowedNetworks: [],
  nameServers: null,
};

/** In the folder of the engine, and removed with it; where there is none, no engine answers either. */
const homeBeside = (socketPath: string): Promise<string> =>
  mkdtemp(join(dirname(socketPath), 'agent-')).catch(() => dirname(socketPath));

/** A runtime as an agent opens it, whose containers are confined; a test may confine it to another port. */
export async function openDocker(
  socketPath: string,
  hostId: string,
  more: Partial<DockerRuntimeOptions> = {},
): Promise<DockerRuntime> {
  const runtime = await DockerRuntime.open({
    hostId: hostId as HostId,
    engine: await accessTo({ kind: 'socket', path: socketPath }),
    bridge: { host: 'berth-host', listenHost: null },
    confinement: POLICY,
    onRemoving: async () => undefined,
    machine: testMachine(),
    home: await homeBeside(socketPath),
    imagesBytesMax: Number.MAX_SAFE_INTEGER,
    clock: systemClock,
    logger: silentLogger,
    metrics: new MetricRegistry(),
    ...more,
  });
  await runtime.network.confine(NO_BRIDGE);
  return runtime;
}
