import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { waitUntilReady } from '../src/wait-until-ready.js';

let server: Server;
let answer: () => { readonly isReady: boolean; readonly reason: string };
let asked: number;

beforeEach(async () => {
  asked = 0;
  server = createServer((_request, response) => {
    asked += 1;
    const { isReady, reason } = answer();
    response.writeHead(isReady ? 200 : 503);
    response.end(JSON.stringify({ status: 'not-ready', dependencies: { view: { state: 'down', reason } } }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

const wait = (said: string[]): Promise<void> =>
  waitUntilReady(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    say: (line) => said.push(line),
    stillMaxMs: 1_000,
    sayEveryMs: 100,
  });

describe('waiting until a process is ready', () => {
  test('goes on as long as it makes progress, and says so', async () => {
    const said: string[] = [];
    answer = () => ({ isReady: asked > 30, reason: `${asked} versions so far` });
    await wait(said);
    expect(said.length).toBeGreaterThan(2);
    expect(said[0]).toMatch(/^… \d+ versions so far$/);
  });

  test('ends when it stands still, with what it said last', async () => {
    answer = () => ({ isReady: false, reason: 'no broker' });
    await expect(wait([])).rejects.toThrow('stood still for 1000 ms: no broker');
  });

  test('ends when nobody answers', async () => {
    answer = () => ({ isReady: false, reason: '' });
    const port = (server.address() as AddressInfo).port;
    server.close();
    const waiting = waitUntilReady(`http://127.0.0.1:${port}`, { say: () => undefined, stillMaxMs: 200 });
    await expect(waiting).rejects.toThrow('it does not answer yet');
  });
});
