import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { connect } from 'node:net';
import { newWorkerId } from './bench/control-plane.js';
import { JobClient, type Answer } from './bench/job-client.js';
import { RouterBench, type Scene, type TestRouter } from './bench/router-bench.js';

const bench = new RouterBench({ environment: { BERTH_RATE_LIMITS: 'on', BERTH_REQUESTS_PER_WORKER: '25' } });

/** An endpoint without workers: its limits are those of the table. */
async function quietScene(): Promise<Scene> {
  const scene = await bench.scene();
  await bench.controlPlane.assign(scene.endpointId, []);
  return scene;
}

const send = (count: number, ask: (n: number) => Promise<Answer>): Promise<readonly Answer[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => ask(n)));

const statusesOf = (answers: readonly Answer[]): Record<number, number> => {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
};

const WINDOW_MS = 10_000;
const ROUNDS = 8;

/** On a busy machine a round may take longer than the window of a limit, and says nothing of it: then another one is made. */
async function withinWindow<Outcome>(round: () => Promise<Outcome>): Promise<Outcome> {
  for (let made = 1; made <= ROUNDS; made += 1) {
    const beganAtMs = systemClock.monotonicMs();
    const outcome = await round();
    if (systemClock.monotonicMs() - beganAtMs < WINDOW_MS) return outcome;
  }
  throw new Error(`Each of ${ROUNDS} rounds took longer than the window.`);
}

const expectRefused = (answer: Answer | undefined, operation: string): void => {
  expect(answer?.status).toBe(429);
  expect(answer?.headers.get('retry-after')).toMatch(/^([1-9]|10|11)$/);
  expect(answer?.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer?.body).toMatchObject({ type: expect.stringMatching(/\/problems\/rate-limited$/) });
  expect(answer?.body.error).toBe(answer?.body.detail);
  expect(answer?.body.detail).toContain(`Too many ${operation} requests`);
  expect(answer?.body).not.toHaveProperty('status');
};

const metricsOf = async (router: TestRouter): Promise<string> =>
  (await fetch(`http://127.0.0.1:${router.operationsPort}/metrics`)).text();

const untilHeld = (router: TestRouter, count: number): Promise<void> =>
  eventually(async () => {
    expect(await metricsOf(router)).toContain(`berth_router_waiting_callers ${count}\n`);
  });

const unknownJob = '00000000-0000-4000-8000-000000000000';
const cancel = (client: JobClient) => (): Promise<Answer> => client.post(`/cancel/${unknownJob}`, '');

/** Batches below what may be in flight. */
async function cancelMany(client: JobClient, count: number): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < count) answers.push(...(await send(Math.min(10, count - answers.length), cancel(client))));
  return answers;
}

describe('one router', () => {
  test('admits 100 cancels in 10 s; who waits as long as it says gets in', async () => {
    const { admitted, client, refused } = await withinWindow(async () => {
      const scene = await quietScene();
      return {
        client: scene.client,
        admitted: await cancelMany(scene.client, 100),
        refused: await cancel(scene.client)(),
      };
    });
    expect(statusesOf(admitted)).toEqual({ 404: 100 });
    expectRefused(refused, 'cancel');
    const retryAfterMs = Number(refused.headers.get('retry-after')) * 1_000;
    expect(retryAfterMs).toBeGreaterThanOrEqual(1_000);
    await systemClock.sleep(retryAfterMs);
    expect((await cancel(client)()).status).toBe(404);
  });

  test('counts endpoints and operations apart', async () => {
    const { refused, ofOther, run } = await withinWindow(async () => {
      const [one, other] = [await quietScene(), await quietScene()];
      await cancelMany(one.client, 100);
      return {
        refused: await cancel(one.client)(),
        ofOther: await cancel(other.client)(),
        run: await one.client.post('/run', { input: {} }),
      };
    });
    expectRefused(refused, 'cancel');
    expect([ofOther.status, run.status]).toEqual([404, 200]);
  });

  test('counts all keys of an account together, and none that may not reach the endpoint', async () => {
    const answers = await withinWindow(async () => {
      const { client, endpointId, tenant } = await quietScene();
      const clientOf = (key: string): JobClient => new JobClient(`${bench.router.url}/v2/${endpointId}`, key);
      const stranger = clientOf((await bench.controlPlane.tenant()).key);
      const reader = clientOf((await bench.controlPlane.tenant({ ...tenant, scopes: ['jobs:read'] })).key);
      expect(statusesOf(await cancelMany(stranger, 120))).toEqual({ 404: 120 });
      expect(statusesOf(await cancelMany(reader, 120))).toEqual({ 403: 120 });
      expect(statusesOf(await cancelMany(clientOf('bk_unknown'), 120))).toEqual({ 401: 120 });
      const colleague = clientOf((await bench.controlPlane.tenant({ accountId: tenant.accountId })).key);
      await cancelMany(colleague, 60);
      return cancelMany(client, 60);
    });
    expect(statusesOf(answers)).toEqual({ 404: 40, 429: 20 });
  });

  test('refuses before the body is looked at', async () => {
    const { client } = await quietScene();
    // Long enough that the first is still held when the last one is, however busy the machine.
    const held = send(400, () => client.post('/runsync?wait=15000', { input: {} }));
    await untilHeld(bench.router, 400);
    expectRefused(await client.post('/runsync', 'no job at all'), 'runsync');
    expect(statusesOf(await held)).toEqual({ 200: 400 });
  });

  test('holds 400 callers of /runsync at one time, and another one when the first has gone', async () => {
    const { client } = await quietScene();
    const first = new AbortController();
    const runSync = (signal?: AbortSignal): Promise<Answer> =>
      client.post('/runsync?wait=8000', { input: {} }, signal === undefined ? {} : { signal });
    const doomed = runSync(first.signal).catch(() => null);
    const held = send(399, () => runSync());
    await untilHeld(bench.router, 400);
    const beyond = await client.post('/runsync?wait=1000', { input: {} });
    expectRefused(beyond, 'runsync');
    expect(beyond.body.detail).toContain('400 in flight at one time');
    expect(beyond.headers.get('retry-after')).toBe('1');
    expect(await metricsOf(bench.router)).toMatch(
      /berth_router_rate_limited_total\{operation="runsync",by="concurrency"\} [1-9]/,
    );
    first.abort();
    await doomed;
    await eventually(async () => {
      expect((await client.post('/runsync?wait=1000', { input: {} })).status).toBe(200);
    });
    expect(statusesOf(await held)).toEqual({ 200: 399 });
  });

  test('counts both verbs, status-sync, health and their like as one operation', async () => {
    const paths = [`/status/${unknownJob}`, `/status-sync/${unknownJob}?wait=1000`, '/health'];
    const last = await withinWindow(async () => {
      const { client } = await quietScene();
      for (let sent = 0; sent < 1_800; sent += 300) {
        await send(300, (n) => client.call(paths[n % 3] ?? '', { method: n % 3 < 2 && n % 2 === 0 ? 'POST' : 'GET' }));
      }
      return send(300, () => client.call('/health'));
    });
    expect(statusesOf(last)).toEqual({ 200: 200, 429: 100 });
    expectRefused(
      last.find(({ status }) => status === 429),
      'status',
    );
  });

  test('admits more where workers are ready, idle or busy', async () => {
    const { more, refused } = await withinWindow(askForMore);
    expectRefused(refused, 'cancel');
    expect(statusesOf(more)).toEqual({ 404: 24, 429: 16 });
    expect(more.at(-1)?.body.detail).toContain('125 in 10 seconds');
  });

  async function askForMore(): Promise<{ readonly refused: Answer; readonly more: readonly Answer[] }> {
    const scene = await quietScene();
    await cancelMany(scene.client, 100);
    const refused = await cancel(scene.client)();
    const worker = (phase: 'idle' | 'busy' | 'starting') => ({ id: newWorkerId(), hostId: scene.hostId, phase });
    const workers = [
      worker('idle'),
      worker('busy'),
      worker('idle'),
      worker('busy'),
      worker('idle'),
      worker('starting'),
    ];
    await bench.controlPlane.assign(scene.endpointId, workers);
    await eventually(async () => {
      expect((await cancel(scene.client)()).status).toBe(404);
    });
    return { refused, more: await cancelMany(scene.client, 40) };
  }

  test('forgets callers who go while their answers wait behind one another on a connection', async () => {
    const { endpointId, tenant } = await quietScene();
    const { httpPort } = bench.router;
    const socket = connect(httpPort, '127.0.0.1');
    const head = `POST /v2/${endpointId}/runsync?wait=120000 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${tenant.key}`;
    const body = '{"input":{}}';
    const one = `${head}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    socket.write(one.repeat(3));
    const inFlight = (count: number): Promise<void> =>
      eventually(async () => {
        expect(await metricsOf(bench.router)).toContain(`berth_router_requests_in_flight ${count}\n`);
      });
    await inFlight(3);
    socket.destroy();
    await inFlight(0);
  });

  test('tells its metrics', async () => {
    const answers = await withinWindow(async () => cancelMany((await quietScene()).client, 110));
    expect(statusesOf(answers)).toEqual({ 404: 100, 429: 10 });
    const metrics = await metricsOf(bench.router);
    expect(metrics).toMatch(/berth_router_rate_limited_total\{operation="cancel",by="rate"\} [1-9]/);
    expect(metrics).toMatch(/berth_router_rate_counters [1-9]/);
  });
});

describe('two routers', () => {
  /** Stopped in any case: a router that is left behind would keep the whole run waiting. */
  async function withSecond(use: (second: TestRouter) => Promise<void>): Promise<void> {
    const second = await bench.startRouter();
    try {
      await use(second);
    } finally {
      await second.stop();
    }
  }

  test('count one limit together, and overshoot by no more than a fiftieth and what is on its way', async () => {
    await withSecond(async (second) => {
      const answers = await withinWindow(async () => {
        const { client, endpointId, tenant } = await quietScene();
        const far = bench.client(endpointId, tenant, second);
        return Promise.all([cancelMany(client, 150), cancelMany(far, 150)]);
      });
      const admitted = statusesOf(answers.flat())[404] ?? 0;
      expect(admitted).toBeGreaterThanOrEqual(100);
      // Ten cancels at a time at the other router, and its fiftieth.
      expect(admitted).toBeLessThanOrEqual(100 + 2 + 10);
    });
  });
});
