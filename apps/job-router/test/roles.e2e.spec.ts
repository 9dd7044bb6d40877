import { systemClock, systemRandom } from '@berth/lifecycle';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { Writable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loadConfig } from '../src/config.js';
import { startRouter, type RunningRouter } from '../src/compose.js';
import { SOURCE_THREAD } from './bench/body-threads.js';
import { ControlPlane, TOPOLOGY, newWorkerId } from './bench/control-plane.js';
import { JobClient } from './bench/job-client.js';
import { tellAllRead } from './bench/read-history.js';

const START_TIMEOUT_MS = 240_000;
const stops: (() => Promise<void> | void)[] = [];
// Before the broker's own, since these run in order.
afterAll(async () => {
  for (const stop of stops) await stop();
}, START_TIMEOUT_MS);
const nats = useNatsServer({ access: 'roles' });
const lines: string[] = [];
/** Two, so that each asks the other about the endpoints that it does not own. */
const routers: RunningRouter[] = [];
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
  const environment = {
    BERTH_NATS_URL: nats.server.url,
    BERTH_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
    BERTH_NATS_SEED: nats.keys.roles.router,
    BERTH_AGENTS_SEED: nats.keys.roles.gateway,
    BERTH_HTTP_PORT: '0',
    BERTH_OPERATIONS_PORT: '0',
    BERTH_DRAIN_DELAY_MS: '0',
    BERTH_NATS_STORAGE_BYTES: String(TOPOLOGY.storageBytes),
    BERTH_NATS_MEMORY_BYTES: String(TOPOLOGY.memoryBytes),
  };
  const onStop = (_: string, stop: () => Promise<void> | void): void => void stops.unshift(stop);
  const parts = {
    name: 'job-router',
    clock: systemClock,
    random: systemRandom,
    logger,
    onStop,
    bodyThread: SOURCE_THREAD,
  };
  for (let count = 0; count < 2; count += 1) routers.push(await startRouter(loadConfig(environment), parts));
  await eventually(
    async () => {
      expect(await Promise.all(routers.map((router) => gauge(router, 'berth_router_shards_owned')))).toEqual([8, 8]);
    },
    { deadlineMs: 90_000 },
  );
}, START_TIMEOUT_MS);

async function gauge({ operationsPort }: RunningRouter, name: string): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${operationsPort}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(metrics)?.[1]);
}

test('routers do all of their work with the permissions of their role', async () => {
  const tenant = await controlPlane.tenant();
  const endpointId = await controlPlane.endpoint(tenant.accountId);
  await controlPlane.assign(endpointId, [{ id: newWorkerId(), hostId: await controlPlane.host() }]);
  const [client, other] = routers.map(
    ({ httpPort }) => new JobClient(`http://127.0.0.1:${httpPort}/v2/${endpointId}`, tenant.key),
  ) as [JobClient, JobClient];
  for (const [one, far] of [
    [client, other],
    [other, client],
  ] as const) {
    const big = await one.run({ s: 'x'.repeat(600_000) });
    const sync = await one.post('/runsync?wait=1000', { input: {} });
    expect(sync.body.status).toBe('IN_QUEUE');
    expect((await far.call(`/stream/${big}?format=object&wait=1000`)).body).toEqual({ status: 'IN_QUEUE', stream: [] });
    // Whoever is held at one router hears at once what is done at the other.
    const held = far.call(`/status-sync/${big}?wait=120000`);
    expect((await one.call(`/cancel/${big}`, { method: 'POST' })).body.status).toBe('CANCELLED');
    expect((await held).body.status).toBe('CANCELLED');
  }
  await eventually(async () => {
    expect((await client.call('/health')).body).toMatchObject({ jobs: { inQueue: 2 }, workers: { idle: 1 } });
  });
  await controlPlane.endpoint(tenant.accountId, { id: endpointId, isDeleted: true });
  const controllers = await nats.connectAs('controllers');
  await eventually(
    async () => {
      await tellAllRead(controllers);
      const emptied = await Promise.all(
        routers.map((each) => gauge(each, 'berth_router_deleted_endpoints_emptied_total')),
      );
      expect(emptied.toSorted()).toEqual([0, 1]);
      for (const { operationsPort } of routers) {
        const ready = await fetch(`http://127.0.0.1:${operationsPort}/readyz`);
        expect(await ready.json()).toMatchObject({ status: 'ready' });
      }
    },
    { deadlineMs: 90_000, intervalMs: 500 },
  );

  expect(lines.filter((line) => /violation/i.test(line))).toEqual([]);
});
