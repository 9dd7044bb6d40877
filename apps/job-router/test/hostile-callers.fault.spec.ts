import { connect, type Socket } from 'node:net';
import { makeApiKey } from '@berth/http';
import { inParallel, systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { RouterBench, type Scene } from './bench/router-bench.js';

const bench = new RouterBench();
const MIB = 1_024 ** 2;
const FLOOD_MS = 240_000;
let victim: Scene;
let attacker: Scene;
const sockets: AttackingSocket[] = [];

beforeAll(async () => {
  victim = await bench.scene();
  attacker = await bench.scene();
});

afterEach(() => {
  for (const { socket } of sockets.splice(0)) socket.destroy();
});

/** A connection of the attacker's, and what the router has said on it. */
interface AttackingSocket {
  readonly socket: Socket;
  text: string;
  isClosed: boolean;
}

const open = async (): Promise<AttackingSocket> => {
  const socket = connect(Number(new URL(bench.router.url).port), '127.0.0.1');
  const attacking: AttackingSocket = { socket, text: '', isClosed: false };
  sockets.push(attacking);
  socket.on('error', () => undefined);
  socket.on('close', () => (attacking.isClosed = true));
  socket.setEncoding('utf8').on('data', (text) => (attacking.text += String(text)));
  await new Promise((resolve) => {
    socket.once('connect', resolve).once('close', resolve);
  });
  return attacking;
};

/** The head of a request and one byte of the body that it announces. */
const announce = async (path: string, bytes: number, key?: string): Promise<AttackingSocket> => {
  const attacking = await open();
  const head = [
    `POST /v2/${attacker.endpointId}${path} HTTP/1.1`,
    'host: router',
    'content-type: application/json',
    `content-length: ${String(bytes)}`,
    ...(key === undefined ? [] : [`authorization: Bearer ${key}`]),
  ];
  await new Promise((resolve) => attacking.socket.write(`${head.join('\r\n')}\r\n\r\n{`, resolve));
  return attacking;
};

/** 28 sockets that announce 512 MiB together: as much as all bodies under way may have. */
const announceAll = async (key?: string): Promise<readonly AttackingSocket[]> => {
  const paths = [
    ...Array.from({ length: 25 }, () => ['/runsync', 20 * MIB] as const),
    ['/run', 10 * MIB] as const,
    ...Array.from({ length: 2 }, () => ['/cancel/none', MIB] as const),
  ];
  const all: AttackingSocket[] = [];
  for (const [path, bytes] of paths) all.push(await announce(path, bytes, key));
  return all;
};

const expectAccepted = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) {
    const { status, text } = await victim.client.post('/run', { input: { n } });
    expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  }
};

const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`http://127.0.0.1:${String(bench.router.operationsPort)}/metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith(name));
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
};

describe('bodies that are announced and never sent', () => {
  test('28 sockets without a key that announce 512 MiB leave room for everybody, and hear 401 at once', async () => {
    const all = await announceAll();
    await expectAccepted(5);
    await eventually(() => {
      for (const { text } of all) expect(text).toMatch(/^HTTP\/1\.1 401 /);
    });
  });

  test('28 sockets with a key of another account take no more of the room than they have sent', async () => {
    const all = await announceAll(attacker.tenant.key);
    await expectAccepted(5);
    await eventually(async () => expect(await metric('berth_http_bodies_bytes')).toBe(all.length));
  });
});

describe('bodies that are costly to read', () => {
  /** What may be read as one piece on the thread that serves everybody. */
  const AT_ONCE_MAX = 64 * 1024;

  test.each([
    { path: '/runsync?wait=1000', before: '{"input":{"a":[', after: ']}}', mib: 20 },
    { path: '/run-batch', before: '{"requests":[{"input":{"a":[', after: ']}}]}', mib: 10 },
    { path: '/openai/v1/completions', before: '{"a":[', after: ']', mib: 20 },
  ])(
    'millions of tiny lists for $path are never parsed on the thread that serves everybody',
    async ({ path, before, after, mib }) => {
      const parse = jest.spyOn(JSON, 'parse');
      const body = `${before}${'[],'.repeat(Math.floor((mib * MIB - 100) / 3))}[]${after}`;
      const answer = fetch(`${bench.router.url}/v2/${attacker.endpointId}${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${attacker.tenant.key}`, 'content-type': 'application/json' },
        body,
      });
      await expectAccepted(5);
      // The OpenAI client's body lacks its last bracket, since its job would be waited for.
      expect((await answer).status).toBe(path.startsWith('/openai') ? 400 : 200);
      const longest = Math.max(...parse.mock.calls.map(([text]) => text.length));
      parse.mockRestore();
      expect(longest).toBeLessThanOrEqual(AT_ONCE_MAX);
    },
    FLOOD_MS,
  );
});

describe('connections that show no key', () => {
  test(
    '5,000 idle sockets are closed down to a bound, and no caller with a key among them',
    async () => {
      const kept = await open();
      const ask = (): boolean =>
        kept.socket.write(
          `GET /v2/${victim.endpointId}/health HTTP/1.1\r\nhost: router\r\nauthorization: Bearer ${victim.tenant.key}\r\n\r\n`,
        );
      const expectAnswers = (count: number): Promise<void> =>
        eventually(() => {
          expect(kept.text.match(/HTTP\/1\.1 \d+/g)).toEqual(Array.from({ length: count }, () => 'HTTP/1.1 200'));
        });
      ask();
      await expectAnswers(1);
      for (let batch = 0; batch < 100; batch += 1) await Promise.all(Array.from({ length: 50 }, open));
      await expectAccepted(5);
      await eventually(() => {
        expect(sockets.filter(({ isClosed }) => !isClosed).length).toBeLessThanOrEqual(1_024 + 1);
      });
      expect(await metric('berth_http_connections_without_key')).toBeLessThanOrEqual(1_024);
      ask();
      await expectAnswers(2);
    },
    FLOOD_MS,
  );
});

describe('keys that do not exist', () => {
  const KEYS = 3_000;
  /** What one network is allowed: so many at once and a second, and the few good keys that are looked up here. */
  const [AT_ONCE, PER_SECOND, GOOD_KEYS] = [200, 20, 20];
  const allowedSince = (startedMs: number): number =>
    AT_ONCE + GOOD_KEYS + Math.ceil(((systemClock.monotonicMs() - startedMs) / 1_000) * PER_SECOND);
  /** Reads of single messages, by whichever interface of the broker. */
  const READS = /^\$JS\.API\.(DIRECT\.GET|STREAM\.MSG\.GET)\.KV_api-keys/;

  test(
    '3,000 random keys cost the broker a bounded number of reads, and good keys of their address work',
    async () => {
      const connection = await bench.nats.connect();
      let reads = 0;
      connection.subscribe('$JS.API.>', {
        callback: (_error, message) => {
          if (READS.test(message.subject)) reads += 1;
        },
      });
      await connection.flush();
      const startedMs = systemClock.monotonicMs();
      const statuses = new Map<number, number>();
      const flood = inParallel(Array.from({ length: KEYS }), 50, async () => {
        const response = await fetch(`${bench.router.url}/v2/${victim.endpointId}/health`, {
          headers: { authorization: `Bearer ${makeApiKey(systemRandom).key}` },
        });
        await response.text();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        if (response.status === 429) expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      });
      await expectAccepted(20);
      const late = await bench.controlPlane.tenant({ accountId: victim.tenant.accountId });
      await eventually(async () => {
        expect((await bench.client(victim.endpointId, late).call('/health')).status).toBe(200);
      });
      await flood;
      expect(reads).toBeGreaterThan(0);
      const allowed = allowedSince(startedMs);
      expect(reads).toBeLessThanOrEqual(allowed);
      expect([...statuses.keys()].sort()).toEqual([401, 429]);
      expect(await metric('berth_http_key_lookups_total')).toBeLessThanOrEqual(allowed);
    },
    FLOOD_MS,
  );
});
