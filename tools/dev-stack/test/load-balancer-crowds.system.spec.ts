import { once } from 'node:events';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { KeptCaller, forEachOf } from './clients/crowd.js';
import { BalancedEndpoint } from './stack/balanced-endpoint.js';

jest.setTimeout(600_000);
const WAIT = { deadlineMs: 120_000, intervalMs: 50 };
const IMAGES = resolve(import.meta.dirname, 'workers');
/** As many connections as a router keeps of callers with keys. */
const KEPT = 10_000;
/** One of so many asks a worker. */
const EACH_TO_WORKER = 50;
const SOCKETS = 2_000;
const SLOTS = 4_000;

let stack: StartedStack;
const left: (() => void)[] = [];
beforeAll(async () => {
  const flags = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off'];
  stack = await StartedStack.start(flags);
});
afterEach(() => {
  for (const leave of left.splice(0)) leave();
});
afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

async function createQueue(): Promise<string> {
  const tenant = new TenantClient(() => stack.dev, WAIT.deadlineMs);
  const { body } = await tenant.manage<{ readonly id: string }>('POST', '/v2/serverless', {
    ...{ name: 'queue', type: 'QUEUE', image: 'local/diary', cpu: [{ id: 'cpu3c', vcpuCount: 2 }] },
    ...{ scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { min: 0, max: 1 } },
  });
  return body.id;
}

async function create(image: string): Promise<BalancedEndpoint> {
  const env = { WS: createRequire(import.meta.url).resolve('ws') };
  const workers = { min: 1, max: 1 };
  const endpoint = await BalancedEndpoint.create(stack, { image: `local/${image}`, env, requestCount: SLOTS, workers });
  await endpoint.up(1);
  return endpoint;
}

test('10,000 callers that keep their connections are all answered again, and a further one at the cost of the oldest', async () => {
  const endpoint = await create('mirror');
  const queue = await createQueue();
  const headOf = (path: string, host: string): string => {
    const headers = Object.entries(endpoint.headersOf({ headers: { host } })).map(
      ([name, value]) => `${name}: ${value}`,
    );
    return [`GET ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n');
  };
  const toWorker = headOf('/nothing', String(endpoint.headersOf({}).host));
  // The router's own answer to a good key: none of them costs so much that the first ones have been idle for too long.
  const toRouter = headOf('/', `${queue}.${stack.dev.loadBalancerDomain}`);
  const callers: KeptCaller[] = [];
  const answers = new Map<string, number>();
  const ask = async (caller: KeptCaller | undefined, head: string): Promise<void> => {
    const line = (await caller?.ask(head)) ?? '';
    answers.set(line, (answers.get(line) ?? 0) + 1);
  };
  await forEachOf(KEPT, async (number) => {
    const caller = await KeptCaller.open(endpoint.routerAt());
    callers[number] = caller;
    left.push(() => caller.leave());
    await ask(caller, toRouter);
  });
  await forEachOf(KEPT, (number) => ask(callers[number], number % EACH_TO_WORKER === 0 ? toWorker : toRouter));
  const atWorker = KEPT / EACH_TO_WORKER;
  expect(Object.fromEntries(answers)).toEqual({
    'HTTP/1.1 400 Bad Request': 2 * KEPT - atWorker,
    'HTTP/1.1 204 No Content': atWorker,
  });
  const further = await KeptCaller.open(endpoint.routerAt());
  left.push(() => further.leave());
  expect(await further.ask(toWorker)).toBe('HTTP/1.1 204 No Content');
  await eventually(() => expect(callers.filter(({ isClosed }) => isClosed)).toHaveLength(1), WAIT);
  await endpoint.remove();
});

test('2,000 WebSockets hear each its own words, stand idle, and hear them again', async () => {
  const endpoint = await create('talks-ws');
  const sockets: WebSocket[] = [];
  const heard = new Map<number, string[]>();
  const say = async (number: number): Promise<void> => {
    const socket = sockets[number] as WebSocket;
    const back = once(socket, 'message');
    socket.send(`${number} says ${heard.get(number)?.length ?? 0}`);
    const [data] = (await back) as [Buffer];
    heard.set(number, [...(heard.get(number) ?? []), String(data)]);
  };
  await forEachOf(SOCKETS, async (number) => {
    const url = endpoint.webSocketUrl({}, `/talk?nonce=${number}`);
    const socket = new WebSocket(url, { headers: endpoint.headersOf({}) });
    sockets[number] = socket;
    left.push(() => socket.terminate());
    await once(socket, 'open');
    await say(number);
  });
  await forEachOf(SOCKETS, say);
  const words = Array.from({ length: SOCKETS }, (_, number) => [`${number} says 0`, `${number} says 1`]);
  expect(words.map((_, number) => heard.get(number))).toEqual(words);
  for (const socket of sockets) socket.close(4_000, 'over');
  await eventually(() => expect(endpoint.noted('closed.jsonl')).toHaveLength(SOCKETS), WAIT);
  expect(new Set(endpoint.noted<{ readonly code: number }>('closed.jsonl').map(({ code }) => code))).toEqual(
    new Set([4_000]),
  );
  await eventually(async () => expect(await endpoint.workers()).toMatchObject([{ status: 'IDLE' }]), WAIT);
  await endpoint.remove();
});
