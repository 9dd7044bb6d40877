import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { useTempFolders } from '@berth/testing/folders';
import { afterEach, expect, test } from '@jest/globals';
import { SAMPLE_IMAGE, chooseRuntime, describeEngine } from '../src/choose-runtime.js';

const newFolder = useTempFolders();
let servers: Server[] = [];
afterEach(async () => {
  for (const server of servers) await new Promise((resolve) => server.close(resolve));
  servers = [];
});

/** Something that answers as an engine with the sample image does. */
async function pretendEngine(at: string | number): Promise<Server> {
  const server = createServer((_, response) => response.end('OK'));
  servers.push(server);
  if (typeof at === 'string') await mkdir(dirname(at), { recursive: true });
  await once(typeof at === 'string' ? server.listen(at) : server.listen(at, '127.0.0.1'), 'listening');
  return server;
}

const AUTO = { runtime: 'auto', dockerSocket: null } as const;

test('an engine that DOCKER_HOST names is not passed over', async () => {
  const path = join(await newFolder(), 'engine.sock');
  await pretendEngine(path);
  const choice = await chooseRuntime(AUTO, { DOCKER_HOST: `unix://${path}` });
  expect(choice).toMatchObject({ runtime: 'docker', why: `an engine answers and has ${SAMPLE_IMAGE}` });
  expect(describeEngine(choice)).toBe(`engine: unix://${path} (DOCKER_HOST)`);
});

test('DOCKER_HOST may name a port', async () => {
  const { port } = (await pretendEngine(0)).address() as AddressInfo;
  const choice = await chooseRuntime(AUTO, { DOCKER_HOST: `tcp://127.0.0.1:${String(port)}` });
  expect(describeEngine(choice)).toBe(`engine: tcp://127.0.0.1:${String(port)} (DOCKER_HOST)`);
});

test('our own setting wins over DOCKER_HOST', async () => {
  const folder = await newFolder();
  const [own, other] = [join(folder, 'own.sock'), join(folder, 'other.sock')];
  await pretendEngine(own);
  await pretendEngine(other);
  const choice = await chooseRuntime({ runtime: 'auto', dockerSocket: own }, { DOCKER_HOST: `unix://${other}` });
  expect(describeEngine(choice)).toBe(`engine: unix://${own} (BERTH_DOCKER_SOCKET)`);
});

test.each([
  ['docker.sock', 'rootless Docker'],
  ['podman/podman.sock', 'rootless Podman'],
])('the user’s own engine is found at %s', async (socket, source) => {
  const folder = await newFolder();
  await pretendEngine(join(folder, socket));
  // A machine that runs these tests may have an engine of its own, which comes first.
  const { runtime: systems } = await chooseRuntime(AUTO);
  const choice = await chooseRuntime({ ...AUTO, runtime: 'docker' }, { XDG_RUNTIME_DIR: folder });
  expect(choice.engine?.source).toBe(systems === 'docker' ? 'Docker' : source);
});

test.each(['auto', 'docker'] as const)(
  'with runtime %s an engine that was named and does not answer is an error, whatever else answers',
  async (runtime) => {
    const folder = await newFolder();
    await pretendEngine(join(folder, 'docker.sock'));
    const settings = { DOCKER_HOST: 'unix:///nowhere/engine.sock', XDG_RUNTIME_DIR: folder };
    const failure = expect.stringMatching(/unix:\/\/\/nowhere\/engine\.sock \(DOCKER_HOST\): .*ENOENT/) as unknown;
    await expect(chooseRuntime({ ...AUTO, runtime }, settings)).rejects.toMatchObject({ message: failure });
  },
);

test('a DOCKER_HOST that cannot be read is an error that names it', async () => {
  await expect(chooseRuntime(AUTO, { DOCKER_HOST: 'ssh://host' })).rejects.toThrow(/DOCKER_HOST: "ssh:\/\/host"/);
});

test('where certificates are wanted and missing, the engine does not answer', async () => {
  const settings = { DOCKER_HOST: 'tcp://127.0.0.1:1', DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH: '/nowhere' };
  await expect(chooseRuntime(AUTO, settings)).rejects.toThrow(/\/nowhere\/(ca|cert|key)\.pem/);
});

test('without containers no engine is asked', async () => {
  const choice = await chooseRuntime({ ...AUTO, runtime: 'process' }, { DOCKER_HOST: 'nonsense' });
  expect(choice).toEqual({ runtime: 'process', why: 'as asked for' });
  expect(describeEngine(choice)).toBe('');
});
