import { systemClock, systemRandom } from '@berth/lifecycle';
import { createLogger } from '@berth/telemetry';
import { eventually, useNatsServer } from '@berth/testing';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadConfig } from '../src/config.js';
import { startRouter, type RunningRouter } from '../src/router.js';
import { SOURCE_THREAD } from './bench/body-threads.js';
import { ControlPlane, TOPOLOGY, newWorkerId } from './bench/control-plane.js';
import { JobClient } from './bench/job-client.js';

const START_TIMEOUT_MS = 60_000;
const stops: (() => Promise<void> | void)[] = [];
// Before the broker's own, since these run in order.
afterAll(async () => {
  for (const stop of stops) await stop();
}, START_TIMEOUT_MS);
const nats = useNatsServer({ access: 'roles' });
const lines: string[] = [];
let router: RunningRouter;
let controlPlane: ControlPlane;

/** Keeps what the router says, so that a refusal of the broker is seen. */
const logger = createLogger({
  name: 'job-router',
  level: 'info',
  format: 'json',
  output: new Writable({
    write: (line: Buffer, _, done) => {
      lines.push(line.toString());
      done();
    },
  }),
});

beforeAll(async () => {
  controlPlane = await ControlPlane.open(await nats.connectAs('management'));
  const config = loadConfig({
    BERTH_NATS_URL: nats.server.url,
    BERTH_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    BERTH_NATS_SEED: nats.keys.roles.router,
    BERTH_AGENTS_SEED: nats.keys.roles.gateway,
    BERTH_HTTP_PORT: '0',
    BERTH_OPERATIONS_PORT: '0',
    BERTH_NATS_STORAGE_BYTES: String(TOPOLOGY.storageBytes),
    BERTH_NATS_MEMORY_BYTES: String(TOPOLOGY.memoryBytes),
  });
  const onStop = (_: string, stop: () => Promise<void> | void): void => void stops.unshift(stop);
  router = await startRouter(config, {
    clock: systemClock,
    random: systemRandom,
    logger,
    onStop,
    bodyThread: SOURCE_THREAD,
  });
}, START_TIMEOUT_MS);

test('the router does all of its work with the permissions of its role', async () => {
  const tenant = await controlPlane.tenant();
  const endpointId = await controlPlane.endpoint(tenant.accountId);
  await controlPlane.assign(endpointId, [{ id: newWorkerId(), hostId: await controlPlane.host() }]);
  const client = new JobClient(`http://127.0.0.1:${router.httpPort}/v2/${endpointId}`, tenant.key);
  const big = await client.run({ s: 'x'.repeat(600_000) });
  const sync = await client.post('/runsync?wait=1000', { input: {} });
  expect(sync.body.status).toBe('IN_QUEUE');
  expect((await client.call(`/stream/${big}?format=object&wait=1000`)).body).toEqual({
    status: 'IN_QUEUE',
    stream: [],
  });
  expect((await client.call(`/cancel/${big}`, { method: 'POST' })).body.status).toBe('CANCELLED');
  await eventually(async () => {
    expect((await client.call('/health')).body).toMatchObject({ jobs: { inQueue: 1 }, workers: { idle: 1 } });
  });
  await controlPlane.endpoint(tenant.accountId, { id: endpointId, isDeleted: true });
  await eventually(
    async () => {
      const ready = await fetch(`http://127.0.0.1:${router.operationsPort}/readyz`);
      expect(await ready.json()).toMatchObject({ status: 'ready' });
      const metrics = await (await fetch(`http://127.0.0.1:${router.operationsPort}/metrics`)).text();
      expect(metrics).toContain('router_maintenance_findings_total{finding="endpoint-deleted"} 1');
    },
    { deadlineMs: 15_000 },
  );

  expect(lines.filter((line) => /violation/i.test(line))).toEqual([]);
}, 60_000);
