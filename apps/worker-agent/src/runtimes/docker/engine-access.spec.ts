import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { useTempFolders } from '@berth/testing/folders';
import { afterEach, describe, expect, test } from '@jest/globals';
import { accessTo, dataFolderOf } from './engine-access.js';

const newFolder = useTempFolders();
let engine: Server | undefined;
afterEach(() => {
  engine?.close();
});

/** An engine that knows where its folder is, and nothing else. */
async function listen(folder: string, at: string | number): Promise<Server> {
  engine = createServer((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.setHeader('connection', 'close');
    response.end(JSON.stringify({ DockerRootDir: folder }));
  });
  engine.listen(at);
  await once(engine, 'listening');
  return engine;
}

describe("the engine's own folder", () => {
  test('is that which it tells, where it is there for the agent', async () => {
    const folder = await newFolder();
    const path = join(folder, 'engine.sock');
    await listen(folder, path);
    expect(await dataFolderOf(await accessTo({ kind: 'socket', path }))).toBe(folder);
  });

  test('is not known where the engine is in a machine of its own behind its socket', async () => {
    const folder = await newFolder();
    const path = join(folder, 'engine.sock');
    await listen(join(folder, 'elsewhere'), path);
    expect(await dataFolderOf(await accessTo({ kind: 'socket', path }))).toBeNull();
  });

  test('is not known of an engine behind a port, though there is a folder of that name', async () => {
    const { port } = (await listen(await newFolder(), 0)).address() as AddressInfo;
    const address = { kind: 'tcp', host: '127.0.0.1', port, certFolder: null } as const;
    expect(await dataFolderOf(await accessTo(address))).toBeNull();
  });
});
