import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { StartedStack } from '../src/started-stack.js';
import { tellByWs, type StoryReport } from './clients/websocket-story.js';
import { BalancedEndpoint } from './stack/balanced-endpoint.js';
import { webPython } from './stack/web-python.js';

jest.setTimeout(300_000);
const WAIT = { deadlineMs: 120_000, intervalMs: 50 };
const IMAGES = resolve(import.meta.dirname, 'workers');
const SCRIPT = resolve(import.meta.dirname, 'clients/websocket-story.py');
const run = promisify(execFile);

let stack: StartedStack;
let python: string;
beforeAll(async () => {
  python = await webPython();
  const flags = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off'];
  stack = await StartedStack.start(flags);
});
afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

interface Closed {
  readonly nonce: string;
  readonly code: number;
  readonly reason: string;
}

const SAID = {
  ...{ protocol: 'talk.v1', isDeflated: true, workerIsNamed: true },
  ...{ text: 'grüße ✓', binary: '00ff80', whole: 'one, two, three', largeIsSame: true, pong: 'there?' },
  theirs: [
    [1_000, 'theirs, 1000'],
    [3_000, 'theirs, 3000'],
    [4_999, 'theirs, 4999'],
  ],
  refused: [403, 'a test', 'not you\n'],
};
const SAID_IN_FRAMES = {
  ...{ what: { protocol: 'talk.v1', isDeflated: true }, served: 'pong here!', dropped: [1_006, ''] },
};

async function tellByPython(endpoint: BalancedEndpoint, hasFrames: boolean): Promise<StoryReport> {
  const { host, port } = endpoint.routerAt();
  const { apiKey } = stack.dev;
  const base = `ws://${String(endpoint.headersOf({}).host)}`;
  const { stdout } = await run(python, [SCRIPT, base, host, String(port), apiKey, hasFrames ? 'frames' : 'messages']);
  return JSON.parse(stdout) as StoryReport;
}

/** What each client of the story has been at the worker, which notes how each socket was closed. */
async function closedAtWorker(endpoint: BalancedEndpoint, heard: number, goneCode: number): Promise<void> {
  const mine = [1_000, 3_000, 4_999].map((code) => ({ nonce: `mine-${code}`, code, reason: `mine, ${code}` }));
  await eventually(() => {
    const noted = endpoint.noted<Closed>('closed.jsonl').slice(heard);
    expect(noted).toEqual(expect.arrayContaining(mine));
    expect(noted.find(({ nonce }) => nonce === 'gone')).toMatchObject({ code: goneCode });
  }, WAIT);
  // Nothing of the sockets is left: their places are free.
  await eventually(async () => expect(await endpoint.workers()).toMatchObject([{ status: 'IDLE' }]), WAIT);
}

describe.each([
  { image: 'talks-ws', hasFrames: true, goneCode: 1_006 },
  { image: 'talks-websockets', hasFrames: true, goneCode: 1_006 },
  // Its server says so of a connection that was lost, also where nothing is between them.
  { image: 'talks-fastapi', hasFrames: false, goneCode: 1_005 },
])('a worker of $image', ({ goneCode, hasFrames, image }) => {
  let endpoint: BalancedEndpoint;
  beforeAll(async () => {
    const env = { PYTHON: python, WS: createRequire(import.meta.url).resolve('ws') };
    endpoint = await BalancedEndpoint.create(stack, {
      image: `local/${image}`,
      env,
      requestCount: 4,
      workers: { min: 1, max: 1 },
    });
    await endpoint.up(1);
  });
  afterAll(() => endpoint.remove());

  const heardBefore = (): number => endpoint.noted('closed.jsonl').length;

  test('and the client ws hear and see each other as if nothing were between them', async () => {
    const before = heardBefore();
    const url = (path: string): string => endpoint.webSocketUrl({}, path);
    const report = await tellByWs({ url, headers: endpoint.headersOf({}), hasFrames });
    const framed = { ...SAID_IN_FRAMES, pieces: ['onetwothree'] };
    expect(report).toEqual(hasFrames ? { ...SAID, ...framed } : SAID);
    await closedAtWorker(endpoint, before, goneCode);
  });

  test('and the Python client websockets hear and see each other as if nothing were between them', async () => {
    const before = heardBefore();
    const report = await tellByPython(endpoint, hasFrames);
    const framed = { ...SAID_IN_FRAMES, pieces: ['one', 'two', 'three'] };
    expect(report).toEqual(hasFrames ? { ...SAID, ...framed } : SAID);
    await closedAtWorker(endpoint, before, goneCode);
  });
});
