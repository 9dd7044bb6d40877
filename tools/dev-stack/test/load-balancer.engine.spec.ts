import { join, resolve } from 'node:path';
import { BASE_IMAGE } from '@berth/servers';
import { eventually } from '@berth/testing';
import { useContainerEngine } from '@berth/testing/containers';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { StartedStack } from '../src/started-stack.js';
import { BalancedContainers, type BalancedContainer } from './stack/balanced-containers.js';
import { BalancedEndpoint, type BalancedOptions, type Outcome } from './stack/balanced-endpoint.js';
import { OpenSocket } from './stack/open-socket.js';

jest.setTimeout(300_000);
const SUITE_MS = 600_000;
const WAIT = { deadlineMs: 120_000, intervalMs: 50 };
const EXAMPLES = resolve(import.meta.dirname, '../../../examples/workers');
const FASTAPI = 'local/python-fastapi:latest';
const WEBSOCKET = 'local/python-websocket:latest';
const PUBLISHED = 'local/published-server:latest';
/** What one worker of each of two endpoints needs at the same time. */
const VCPUS = 8;
const USER = 1_000;

const fixture = useContainerEngine({ hasBaseImage: true });
const containers = new BalancedContainers(() => fixture.engine);

// Nested, so that the stack is stopped before its engine, on failure too.
describe('load-balanced endpoints in containers', () => {
  let stack: StartedStack;
  const made: BalancedEndpoint[] = [];
  const sockets: OpenSocket[] = [];

  beforeAll(async () => {
    const { engine } = fixture;
    await engine.buildImage(FASTAPI, join(EXAMPLES, 'python-fastapi'), { BASE: BASE_IMAGE });
    await engine.buildImage(WEBSOCKET, join(EXAMPLES, 'python-websocket'), { BASE: BASE_IMAGE });
    await engine.buildImage(PUBLISHED, join(import.meta.dirname, 'published-server'), { BASE: FASTAPI });
    const flags = ['--runtime', 'docker', '--docker-socket', engine.socketPath, '--demo', 'off'];
    stack = await StartedStack.start([...flags, '--vcpus', String(VCPUS), '--rate-limits', 'off']);
  }, SUITE_MS);
  afterEach(async () => {
    sockets.splice(0).forEach((socket) => socket.cut());
    await Promise.all(made.splice(0).map((each) => each.remove()));
  });
  afterAll(async () => {
    await stack?.stop();
    await stack?.remove();
  }, SUITE_MS);

  /** From nothing to one worker at most, which goes as soon as nobody needs it. */
  async function create(image: string, more: Partial<BalancedOptions> = {}): Promise<BalancedEndpoint> {
    const workers = { min: 0, max: 1, idleTimeout: 1 };
    const endpoint = await BalancedEndpoint.create(stack, { image, requestCount: 2, workers, ...more });
    made.push(endpoint);
    expect(await containers.of(endpoint.id)).toEqual([]);
    return endpoint;
  }

  async function talkTo(endpoint: BalancedEndpoint): Promise<OpenSocket> {
    const socket = await OpenSocket.open(endpoint);
    sockets.push(socket);
    return socket;
  }

  async function theOne(endpoint: BalancedEndpoint): Promise<BalancedContainer> {
    const [container, ...others] = await containers.of(endpoint.id);
    expect(others).toEqual([]);
    if (container === undefined) throw new Error('the endpoint has no container');
    return container;
  }

  const gone = (endpoint: BalancedEndpoint): Promise<void> =>
    eventually(async () => expect(await containers.of(endpoint.id)).toEqual([]), WAIT);
  const paused = (endpoint: BalancedEndpoint): Promise<void> =>
    eventually(async () => expect(await theOne(endpoint)).toMatchObject({ State: { Paused: true } }), WAIT);
  const echo = (endpoint: BalancedEndpoint, said: string): Promise<Outcome> =>
    endpoint.ask('/echo', { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ said }) });
  const workerOf = (outcome: Outcome): unknown =>
    outcome.kind === 'answered' ? outcome.headers['x-runpod-worker-id'] : outcome;
  const parsed = (outcome: Outcome): unknown =>
    outcome.kind === 'answered' && outcome.status === 200 ? JSON.parse(outcome.body) : outcome;

  describe('the samples', () => {
    test('FastAPI: from no container to the answer, by no published port, and back to none', async () => {
      const endpoint = await create(FASTAPI);
      const answer = await echo(endpoint, 'ahoy');
      expect(parsed(answer)).toEqual({ echo: { said: 'ahoy' }, worker: workerOf(answer) });
      const container = await theOne(endpoint);
      expect(container.HostConfig.PortBindings ?? {}).toEqual({});
      expect(Object.values(container.NetworkSettings.Ports).filter((port) => port !== null)).toEqual([]);
      const events = await endpoint.ask('/count?to=2');
      expect(events).toMatchObject({ status: 200, body: 'data: 0\n\ndata: 1\n\n' });
      await gone(endpoint);
      // The host reports it a moment later.
      await eventually(async () => expect(await endpoint.workers()).toEqual([]), WAIT);
    });

    test('FastAPI: a request waits until the worker has loaded what it needs', async () => {
      const endpoint = await create(FASTAPI, { env: { LOAD_SECONDS: '3' } });
      const answer = echo(endpoint, 'loaded');
      await eventually(async () => {
        const reason = expect.stringContaining('answered 204') as unknown;
        expect(await endpoint.workers()).toMatchObject([{ status: 'INITIALIZING', reason }]);
      }, WAIT);
      expect(parsed(await answer)).toMatchObject({ echo: { said: 'loaded' } });
    });

    test('WebSocket: from no container to an echo, and back to none when the last socket has closed', async () => {
      const endpoint = await create(WEBSOCKET);
      const socket = await talkTo(endpoint);
      expect(await socket.say('ahoy')).toBe('ahoy');
      const other = await talkTo(endpoint);
      expect(await other.say('ahoy too')).toBe('ahoy too');
      await socket.close(4_001);
      expect(await theOne(endpoint)).toMatchObject({ State: { Running: true } });
      expect(await other.say('still here')).toBe('still here');
      await other.close(1_000);
      await gone(endpoint);
    });
  });

  describe('a server as published images have it', () => {
    test('as a user without rights listens on port 80, which nothing names, and is called from its own network', async () => {
      const endpoint = await create(PUBLISHED);
      const who = parsed(await endpoint.ask('/who'));
      const [network] = Object.values((await theOne(endpoint)).NetworkSettings.Networks);
      expect(who).toEqual({ user: USER, port: 80, caller: network?.Gateway });
    });

    test('is asked at its own port where it is told that one alone', async () => {
      const endpoint = await create(PUBLISHED, { env: { PORT: '5000' } });
      expect(parsed(await endpoint.ask('/who'))).toMatchObject({ port: 5_000 });
    });

    test('is asked at a port and a path of their own, and 204 with a body says that it is not ready', async () => {
      const env = { PORT: '8000', PORT_HEALTH: '8001', HEALTH_CHECK_PATH: '/v1/health', WAITS: '1' };
      const endpoint = await create(PUBLISHED, { env });
      let early: Outcome | undefined;
      const answer = endpoint.ask('/who');
      void answer.then((outcome) => (early = outcome));
      await eventually(async () => {
        const reason = expect.stringContaining('GET /v1/health on port 8001 answered 204') as unknown;
        expect(await endpoint.workers()).toMatchObject([{ status: 'INITIALIZING', reason }]);
      }, WAIT);
      expect(early).toBeUndefined();
      await containers.docker('exec', (await theOne(endpoint)).Id, 'touch', '/tmp/ready');
      expect(parsed(await answer)).toMatchObject({ port: 8_000 });
    });
  });

  describe('with flashboot', () => {
    test('a container stands still only when nothing is in flight, and goes on for what is held', async () => {
      const talking = await create(WEBSOCKET, { flashboot: 'FLASHBOOT' });
      const socket = await talkTo(talking);
      expect(await socket.say('one')).toBe('one');
      const first = await theOne(talking);
      // That it has had time enough to be paused another one shows, which became idle later.
      const other = await create(FASTAPI, { flashboot: 'FLASHBOOT' });
      const worker = workerOf(await echo(other, 'first'));
      await paused(other);
      expect(await containers.pausesOf(await theOne(other))).toBe(1);
      expect(await containers.pausesOf(first)).toBe(0);
      expect(await socket.say('two')).toBe('two');
      await socket.close(1_000);
      await paused(talking);

      const next = await talkTo(talking);
      expect(await next.say('three')).toBe('three');
      expect(await theOne(talking)).toMatchObject({ Id: first.Id, State: { Paused: false } });
      const again = await echo(other, 'second');
      expect(parsed(again)).toEqual({ echo: { said: 'second' }, worker });
      expect(await containers.pausesOf(first)).toBe(1);
    });
  });
});
