import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { BalancedEndpoint, type BalancedOptions, type Outcome } from './stack/balanced-endpoint.js';
import { SteadyLoad } from './stack/steady-load.js';

jest.setTimeout(300_000);
const WAIT = { deadlineMs: 120_000, intervalMs: 50 };
const IMAGES = resolve(import.meta.dirname, 'workers');
const LARGE_BYTES = 8 * 1_024 * 1_024;

let stack: StartedStack;
let tenant: TenantClient;
const made: BalancedEndpoint[] = [];

beforeAll(async () => {
  const flags = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--routers', '2', '--rate-limits', 'off'];
  stack = await StartedStack.start(flags);
  tenant = new TenantClient(() => stack.dev, WAIT.deadlineMs);
});
afterEach(async () => {
  await Promise.all(made.splice(0).map((each) => each.remove()));
});
afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

async function create(options: BalancedOptions): Promise<BalancedEndpoint> {
  const endpoint = await BalancedEndpoint.create(stack, options);
  made.push(endpoint);
  return endpoint;
}

const problem = (status: number, code: string): object => ({ status, headers: { 'x-berth-error': code } });

describe('an endpoint without a worker', () => {
  test('holds a request while a worker starts, and gives it to that one', async () => {
    const endpoint = await create({ requestCount: 1, workers: { min: 0, max: 1 }, env: { READY: 'ready' } });
    expect(await endpoint.workers()).toEqual([]);
    let early: Outcome | undefined;
    const answer = endpoint.ask('/echo?nonce=cold', { body: 'ahoy' });
    void answer.then((outcome) => (early = outcome));
    const worker = await eventually(async () => {
      const workers = await endpoint.workers();
      expect(workers).toMatchObject([{ status: 'INITIALIZING', reason: expect.stringContaining('204') as unknown }]);
      return workers[0];
    }, WAIT);
    expect(early).toBeUndefined();
    endpoint.openGate('ready');
    const headers = { 'x-runpod-worker-id': worker?.id, 'x-nonce': 'cold' };
    expect(await answer).toMatchObject({ status: 200, body: 'ahoy', headers });
  });

  test('is woken neither by health checks nor by strangers, but by a caller', async () => {
    const asleep = await create({ requestCount: 1, workers: { min: 0, max: 1 } });
    const other = await create({ requestCount: 1, workers: { min: 0, max: 1 } });
    for (const router of [0, 1]) {
      expect(await asleep.ask('/ping', { router })).toMatchObject(problem(503, 'no-worker-available'));
      const headers = { authorization: '' };
      expect(await asleep.ask('/echo', { router, headers, body: 'x' })).toMatchObject(problem(401, 'missing-api-key'));
    }
    // What is told later on the same way has brought a worker by then.
    expect(await other.ask('/echo', { body: 'x' })).toMatchObject({ status: 200 });
    expect(await asleep.workers()).toEqual([]);
    expect(await asleep.ask('/echo', { body: 'x' })).toMatchObject({ status: 200 });
    // The router gives the place back when the stream has closed, a moment after its caller has the whole answer.
    await eventually(async () => {
      expect(await asleep.ask('/ping')).toMatchObject({ status: 200, body: 'pong' });
    }, WAIT);
  });

  test('has no queue, and an endpoint with a queue has no host name', async () => {
    const balanced = await create({ requestCount: 1, workers: { min: 0, max: 1 } });
    const type = expect.stringMatching(/wrong-endpoint-type$/) as unknown;
    for (const operation of ['run', 'runsync']) {
      const answer = await tenant.job('POST', `/${balanced.id}/${operation}`, { input: {} });
      expect(answer).toMatchObject({ status: 400, body: { type } });
    }
    const { body: queue } = await tenant.manage<{ readonly id: string }>('POST', '/v2/serverless', {
      ...{ name: 'queue', type: 'QUEUE', image: 'local/diary', cpu: [{ id: 'cpu3c', vcpuCount: 2 }] },
      ...{ scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { min: 0, max: 1 } },
    });
    const host = `${queue.id}.${stack.dev.loadBalancerDomain}`;
    const refused = await balanced.ask('/echo', { headers: { host }, body: 'x' });
    expect(refused).toMatchObject(problem(400, 'wrong-endpoint-type'));
    const said = refused.kind === 'answered' ? (JSON.parse(refused.body) as object) : {};
    expect(said).toMatchObject({ error: 'not allowed for QB API' });
  });
});

describe('what goes through', () => {
  let endpoint: BalancedEndpoint;

  test('an event comes before the worker makes the next one', async () => {
    endpoint = await create({ requestCount: 4, workers: { min: 0, max: 1 } });
    const answer = await endpoint.open('/sse?gate=last', { body: '' });
    const heard: string[] = [];
    answer.setEncoding('utf8').on('data', (chunk: string) => heard.push(chunk));
    const ended = new Promise((resolveEnd) => answer.once('end', resolveEnd));
    await eventually(() => expect(heard.join('')).toBe('data: first\n\n'), WAIT);
    endpoint.openGate('last');
    await ended;
    expect(heard.join('')).toBe('data: first\n\ndata: last\n\n');
  });

  test('a WebSocket says what it hears, at either router', async () => {
    endpoint = await create({ requestCount: 4, workers: { min: 0, max: 1 } });
    for (const router of [0, 1]) {
      const socket = new WebSocket(endpoint.webSocketUrl({ router }), { headers: endpoint.headersOf({}) });
      const heard: string[] = [];
      socket.on('message', (data: Buffer) => heard.push(data.toString()));
      const closed = new Promise((resolveClose, reject) => socket.once('close', resolveClose).once('error', reject));
      socket.once('open', () => ['one', 'two', 'three'].forEach((word) => socket.send(word)));
      await eventually(() => expect(heard).toEqual(['one', 'two', 'three']), WAIT);
      socket.close(4_001);
      expect(await closed).toBe(4_001);
    }
  });

  test('8 MiB each way are unchanged', async () => {
    endpoint = await create({ requestCount: 4, workers: { min: 0, max: 1 } });
    const sent = randomBytes(LARGE_BYTES);
    for (const router of [0, 1]) {
      const back = await buffer(await endpoint.open('/echo', { router, body: sent }));
      expect(back.equals(sent)).toBe(true);
      const big = await buffer(await endpoint.open(`/big?bytes=${LARGE_BYTES}`, { router }));
      expect(big.equals(Buffer.alloc(LARGE_BYTES, 'berth'))).toBe(true);
    }
  });
});

describe('with many requests at two routers', () => {
  const SLOTS = 4;
  const REQUESTS = 50;

  test('what is in flight and what waits bring a worker, and none ever has more than it takes', async () => {
    const endpoint = await create({ requestCount: SLOTS, workers: { min: 0, max: 2 } });
    const nonces = Array.from({ length: REQUESTS }, () => systemRandom.id(20));
    const answers: Promise<Outcome>[] = [];
    const send = (count: number): void => {
      for (const nonce of nonces.slice(answers.length, answers.length + count)) {
        const router = answers.length % 2;
        answers.push(endpoint.ask(`/echo?gate=all&nonce=${nonce}`, { router, body: nonce }));
      }
    };
    const atWorkers = (count: number): Promise<void> =>
      eventually(() => expect(endpoint.atGates()).toHaveLength(count), WAIT);
    send(SLOTS);
    await atWorkers(SLOTS);
    expect(await endpoint.workers()).toHaveLength(1);
    send(1);
    await atWorkers(SLOTS + 1);
    const workers = await endpoint.up(2);
    send(REQUESTS);
    await atWorkers(2 * SLOTS);
    endpoint.openGate('all');
    expect(await Promise.all(answers)).toMatchObject(nonces.map((body) => ({ status: 200, body })));
    for (const { id } of workers) {
      const { body } = {
        body: '',
        ...(await endpoint.ask('/most', { headers: { 'x-runpod-worker-id': `strict ${id}` } })),
      };
      expect(JSON.parse(body)).toEqual({ most: SLOTS });
    }
  });

  test('a release rolls, and no request fails', async () => {
    const endpoint = await create({ requestCount: SLOTS, workers: { min: 2, max: 3 }, env: { VERSION: '1' } });
    await endpoint.up(2);
    const load = new SteadyLoad(endpoint, 6);
    try {
      await load.goesOn();
      await endpoint.release({ VERSION: '2' });
      await eventually(async () => {
        expect(await endpoint.isRolledOut()).toBe(true);
        expect((await endpoint.workers()).every(({ version }) => version === 2)).toBe(true);
      }, WAIT);
      await load.goesOn();
    } finally {
      await load.end();
    }
    expect(load.verdicts.filter(({ kind }) => kind !== 'right')).toEqual([]);
    const versions = load.of('right').map(({ version }) => version);
    expect([versions[0], versions.at(-1)]).toEqual(['1', '2']);
  });
});
