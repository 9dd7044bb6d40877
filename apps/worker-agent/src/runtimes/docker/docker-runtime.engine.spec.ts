import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useContainerEngine } from '@berth/testing/containers';
import { useTempFolders } from '@berth/testing/folders';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import Dockerode from 'dockerode';
import { openDocker } from '../../../test/open-docker.js';
import { TWO_GPUS, testMachine } from '../../../test/test-machine.js';
import { PROBE_SCRIPT, containerRuntimeConformance } from '../container-runtime.conformance.js';
import type { ContainerStart, OwnedContainer } from '../container-runtime.port.js';
import { Machine } from '../machine/machine.js';
import { USUAL_RESERVE, reservedMemory } from '../machine/reserve.js';
import { RuntimeError } from '../runtime-error.js';
import { containerName } from './container-options.js';
import type { DockerRuntime } from './docker-runtime.js';

const SLOW = { deadlineMs: 90_000 };
const TEST_TIMEOUT_MS = 240_000;
const PROBE = 'berth-test/probe:1';
const BASE_IMAGE = 'berth/python-base:bookworm';
const MIB = 1024 * 1024;

const fixture = useContainerEngine({ hasBaseImage: true });
const neighbour = useContainerEngine();
const newFolder = useTempFolders();
const connection = (): Dockerode => new Dockerode({ socketPath: fixture.engine.socketPath });
const open = (hostId: string): Promise<DockerRuntime> => openDocker(fixture.engine.socketPath, hostId);

/** No build is needed for an image that differs from another in its entry point. */
async function makeImage(name: string, entrypoint: readonly string[]): Promise<void> {
  const [repo, tag] = name.split(':');
  const container = await connection().createContainer({ Image: BASE_IMAGE, Cmd: ['true'] });
  await container.commit({ repo, tag, changes: `ENTRYPOINT ${JSON.stringify(entrypoint)}` });
  await container.remove();
}

/** Why nobody can listen at the address; null where one can. */
const refusalAt = (address: string): Promise<Error | null> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen(0, address, () => server.close(() => resolve(null)));
  });

beforeAll(() => makeImage(PROBE, ['/bin/sh', '-c', PROBE_SCRIPT, 'probe']), TEST_TIMEOUT_MS);

containerRuntimeConformance('docker', async () => ({
  gpuTypeId: 'NVIDIA L4',
  areGpusSimulated: true,
  keepsVcpus: true,
  probeImage: PROBE,
  missingImage: 'local/nothing:latest',
  newFolder,
  open: () => openDocker(fixture.engine.socketPath, 'host1', { machine: testMachine(TWO_GPUS) }),
  close: async () => undefined,
}));

describe('docker', () => {
  const W1 = 'w1' as WorkerId;
  const W2 = 'w2' as WorkerId;
  let runtime: DockerRuntime;

  beforeAll(async () => {
    await makeImage('berth-test/python:1', ['python3', '-c']);
    runtime = await open('host2');
  }, TEST_TIMEOUT_MS);
  afterEach(async () => {
    for (const { labels } of await runtime.list()) await runtime.remove(labels.workerId);
  }, TEST_TIMEOUT_MS);
  afterAll(() => runtime.close());

  const startOf = (workerId: WorkerId, more: Partial<ContainerStart> = {}): ContainerStart => ({
    labels: {
      hostId: 'host2' as HostId,
      workerId,
      endpointId: 'endpoint1' as EndpointId,
      release: 1,
      image: PROBE,
    },
    args: ['wait'],
    env: {},
    limits: { vcpus: 64, memoryBytes: 128 * MIB, diskBytes: 10 * 1024 * MIB },
    gpu: null,
    ...more,
  });
  const pythonOf = (workerId: WorkerId, program: string): ContainerStart => {
    const start = startOf(workerId, { args: [program] });
    return { ...start, labels: { ...start.labels, image: 'berth-test/python:1' } };
  };
  const ended = (workerId: WorkerId): Promise<OwnedContainer> =>
    eventually(async () => {
      const container = await runtime.inspect(workerId);
      if (container?.state.kind !== 'ended') throw new Error(`${workerId} has not ended`);
      return container;
    }, SLOW);

  test(
    'a worker is unprivileged, bounded, and has an init',
    async () => {
      await runtime.start(startOf(W1));
      const { HostConfig: host } = await connection().getContainer(containerName(W1)).inspect();
      expect(host).toMatchObject({
        Privileged: false,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        Init: true,
        Memory: 128 * MIB,
        PidsLimit: 4_096,
        RestartPolicy: { Name: 'no' },
        LogConfig: { Config: { 'max-size': '10m', 'max-file': '3' } },
      });
      expect(host.Binds ?? []).toEqual([]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'an end is seen as soon as it is told, though the list may still say that the container runs',
    async () => {
      const looks: Promise<readonly OwnedContainer[]>[] = [];
      const unwatch = runtime.watch(() => looks.push(runtime.list()));
      await eventually(async () => {
        await runtime.start(startOf(W2));
        await runtime.remove(W2);
        expect(looks.length).toBeGreaterThan(0);
      }, SLOW);
      await runtime.start(startOf(W1));
      await runtime.list();
      await runtime.kill(W1);
      await ended(W1);
      // Its end is the last that there is to tell.
      await eventually(
        async () => expect((await looks.at(-1))?.map(({ state }) => state.kind)).toEqual(['ended']),
        SLOW,
      );
      unwatch();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a worker that asks for more cores than there are gets all there are',
    async () => {
      await runtime.start(startOf(W1));
      const { NCPU } = (await connection().info()) as { NCPU: number };
      const { HostConfig: host } = await connection().getContainer(containerName(W1)).inspect();
      expect(host.NanoCpus).toBe(NCPU * 1e9);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'what the engine says that the machine has is told, whatever this process may have of it',
    async () => {
      const { MemTotal, NCPU } = (await connection().info()) as { MemTotal: number; NCPU: number };
      // As in a container with a limit.
      const limit = jest.spyOn(process, 'constrainedMemory').mockReturnValue(2 ** 30);
      const told = await runtime.inventory().finally(() => {
        limit.mockRestore();
      });
      const memoryBytes = MemTotal - reservedMemory(MemTotal, USUAL_RESERVE);
      expect(told).toMatchObject({ vcpus: NCPU, memoryBytes });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a worker that takes more memory than it may ends as out of memory',
    async () => {
      await runtime.start(pythonOf(W1, 'x = bytearray(1 << 30)'));
      expect((await ended(W1)).state).toMatchObject({
        exit: { code: 137, cause: 'out-of-memory', detail: 'killed, out of memory: its limit is 128 MiB' },
      });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a worker reaches its host by name',
    async () => {
      const server: Server = createServer((_, response) => response.end('bridge'));
      await new Promise<void>((resolve) => server.listen(0, runtime.network.listenHost, resolve));
      const { port } = server.address() as AddressInfo;
      await runtime.network.confine(port);
      const url = `http://berth-host:${String(port)}/`;
      await runtime.start(
        pythonOf(W1, `from urllib.request import urlopen; print(urlopen("${url}", timeout=10).read())`),
      );
      await ended(W1);
      expect(await runtime.logs(W1, 5)).toEqual(["b'bridge'"]);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a device that is not there is told as such, and nothing is left',
    async () => {
      const nvidiaSmi = async (): Promise<string> => '0, GPU-1, NVIDIA L4, 23034, [N/A]';
      const own = { clock: systemClock, logger: silentLogger, diskFolder: '/', vcpus: null, simulatedGpus: null };
      const promised = await openDocker(fixture.engine.socketPath, 'host2', {
        machine: new Machine({ ...own, nvidiaSmi }),
      });
      const withGpu = startOf(W1, { gpu: { typeId: 'NVIDIA L4', count: 1 } });
      await expect(promised.start(withGpu)).rejects.toMatchObject({ reason: 'no-such-device' });
      expect(await promised.list()).toEqual([]);
      await promised.close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a program that the image lacks ends at once, with words',
    async () => {
      await makeImage('berth-test/broken:1', ['/no/such/program']);
      const start = startOf(W1);
      await runtime.start({ ...start, labels: { ...start.labels, image: 'berth-test/broken:1' } });
      const { state } = await ended(W1);
      expect(state).toMatchObject({ exit: { code: 127 } });
      expect((await runtime.logs(W1, 5)).join()).toContain('/no/such/program');
    },
    TEST_TIMEOUT_MS,
  );

  test('an image that no registry gives out fails within seconds', async () => {
    const image = '127.0.0.1:9/nothing:1';
    const failure = await runtime.prepare({ image, credentials: null }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RuntimeError);
    expect(failure).toMatchObject({ reason: 'image-unreachable', isTemporary: true });
  });

  test(
    'containers of another host on the same engine are none of this one',
    async () => {
      const other = await open('host3');
      const start = startOf(W2);
      await other.start({ ...start, labels: { ...start.labels, hostId: 'host3' as HostId } });
      expect(await runtime.list()).toEqual([]);
      expect(await runtime.inspect(W2)).toBeNull();
      await runtime.kill(W2);
      expect(await other.inspect(W2)).toMatchObject({ state: { kind: 'running' } });
      await other.remove(W2);
      await other.close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a host of the same name on another engine of this machine takes neither its bridge nor its address',
    async () => {
      const other = await openDocker(neighbour.engine.socketPath, 'host2');
      const refusals = await Promise.all([runtime, other].map(({ network }) => refusalAt(network.listenHost)));
      await other.network.remove();
      expect(refusals).toEqual([null, null]);
    },
    TEST_TIMEOUT_MS,
  );

  test('an engine that does not answer is told as such', async () => {
    const socketPath = '/nowhere/docker.sock';
    const opened = openDocker(socketPath, 'h');
    await expect(opened).rejects.toMatchObject({ reason: 'runtime-unavailable' });
  });
});
