import { afterEach, expect, test } from '@jest/globals';
import { systemClock } from '@berth/lifecycle';
import { ManualClock } from '@berth/testing';
import { MetricRegistry } from '../metrics/metric-registry.js';
import { OperationsServer } from './operations-server.js';
import { Readiness } from './readiness.js';

const running: OperationsServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
});

async function start(readiness: Readiness, metrics = new MetricRegistry(), port = 0): Promise<string> {
  const server = new OperationsServer({ host: '127.0.0.1', port, readiness, metrics });
  const taken = await server.start();
  running.push(server);
  return `http://127.0.0.1:${taken}`;
}

test('it is alive whatever its dependencies do, and ready only while all of them are up', async () => {
  const readiness = new Readiness(systemClock);
  readiness.start();
  const url = await start(readiness);
  readiness.add('nats', async () => undefined);
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  readiness.add('postgres', async () => {
    throw new Error('connection refused by postgres://a:pw@h');
  });
  const response = await fetch(`${url}/readyz`);
  expect(response.status).toBe(503);
  expect(await response.json()).toEqual({
    status: 'not-ready',
    dependencies: {
      nats: { state: 'up' },
      postgres: { state: 'down', reason: 'connection refused by postgres://a:[redacted]@h' },
    },
  });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
});

test('what works less well than it should is told, and changes nothing else', async () => {
  const readiness = new Readiness(systemClock);
  readiness.start();
  readiness.add('nats', async () => undefined);
  const troubles: string[] = [];
  readiness.addDegradation(() => troubles);
  expect(await readiness.report()).toEqual({ status: 'ready', dependencies: { nats: { state: 'up' } } });
  troubles.push('The store is almost full.');
  expect(await readiness.report()).toMatchObject({ status: 'ready', degraded: ['The store is almost full.'] });
});

test('a dependency that does not answer is down, and one that stops says so', async () => {
  const clock = new ManualClock();
  const readiness = new Readiness(clock);
  readiness.start();
  readiness.add('nats', () => new Promise(() => undefined));
  const report = readiness.report();
  await clock.advance(2_000);
  expect(await report).toEqual({
    status: 'not-ready',
    dependencies: { nats: { state: 'down', reason: 'no answer within 2000 ms' } },
  });
  const stopping = new Readiness(clock);
  stopping.stop();
  expect(await stopping.report()).toMatchObject({ status: 'stopping' });
});

test('metrics are those declared, each once', async () => {
  const metrics = new MetricRegistry();
  const accepted = metrics.counter({ name: 'berth_router_jobs_total', help: 'Jobs accepted.', labels: ['origin'] });
  metrics
    .counter({ name: 'berth_router_jobs_total', help: 'Jobs accepted.', labels: ['origin'] })
    .inc({ origin: 'run' });
  accepted.inc({ origin: 'run' }, 2);
  metrics.gaugeOf({ name: 'berth_router_open_streams', help: 'Open streams.' }, () => 7);
  const url = await start(new Readiness(systemClock), metrics);
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('berth_router_jobs_total{origin="run"} 3');
  expect(text).toContain('berth_router_open_streams 7');
});

test('other paths and methods are refused', async () => {
  const url = await start(new Readiness(systemClock));
  expect((await fetch(`${url}/`)).status).toBe(404);
  expect((await fetch(`${url}/healthz`, { method: 'POST' })).status).toBe(405);
});

test('a port that is taken is named with its variable', async () => {
  const url = await start(new Readiness(systemClock));
  const port = Number(new URL(url).port);
  await expect(start(new Readiness(systemClock), new MetricRegistry(), port)).rejects.toThrow(
    `Port ${port} on 127.0.0.1 is already in use. Set BERTH_OPERATIONS_PORT to a free one.`,
  );
});
