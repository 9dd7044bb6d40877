import { BUCKETS, type WebhookSecretsSnapshot } from '@berth/contracts';
import { systemClock } from '@berth/lifecycle';
import { Broker } from '@berth/messaging';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import type { EndpointId } from '@berth/domain';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { composeSnapshots } from '../src/snapshots/compose-snapshots.js';
import { Database } from '../src/persistence/database.js';
import { QUEUE_ENDPOINT, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

/** Far less than it takes until a pass of the resync must have come. */
const SOON = { deadlineMs: 90_000, intervalMs: 50 };
const BACK = { deadlineMs: 90_000, intervalMs: 100 };
/** The lock on which a commit waits that shall be held up. */
const GATE = 4_711;

let other: string;
let listener: NatsConnection;
/** Subjects of everything that was sent to the buckets of endpoints. */
const sent: string[] = [];

beforeAll(async () => {
  await bench.source.query(`
    CREATE FUNCTION end_of_commit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF NEW.spec ->> 'name' = 'doomed' THEN RAISE EXCEPTION 'the commit fails' USING ERRCODE = '40001'; END IF;
      IF NEW.spec ->> 'name' = 'held up' THEN PERFORM pg_advisory_xact_lock_shared(${GATE}); END IF;
      RETURN NULL;
    END $$`);
  await bench.source.query(`
    CREATE CONSTRAINT TRIGGER ends_commit AFTER INSERT OR UPDATE ON endpoints
      DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION end_of_commit()`);
  other = (await bench.startProcess()).url;
  listener = await bench.nats.connect();
  for (const bucket of [BUCKETS.endpoints, BUCKETS.webhookSecrets]) {
    listener.subscribe(`$KV.${bucket}.>`, {
      callback: (_, { subject }) => {
        sent.push(subject);
      },
    });
  }
  await listener.flush();
});

afterAll(() => listener.close());

const create = (name: string, headers: Record<string, string> = {}): Promise<Answer> =>
  bench.call('POST /v2/serverless', { body: { ...QUEUE_ENDPOINT, name }, headers });

const secretsSnapshot = async (id: string): Promise<WebhookSecretsSnapshot | undefined> =>
  (await bench.writerOf<WebhookSecretsSnapshot>(BUCKETS.webhookSecrets).read(id))?.value;

const waiting = async (): Promise<number> =>
  (await bench.source.query<unknown[]>('SELECT 1 FROM snapshot_outbox')).length;

describe('a commit that fails', () => {
  test('leaves no endpoint that routes: nothing of it was sent to any bucket', async () => {
    const { body } = await create('sound');
    sent.length = 0;
    expect((await create('doomed')).status).toBe(503);
    await bench.call(`PATCH /v2/serverless/${body.id}`, { body: { workers: { max: 7 } } });
    await eventually(() => {
      expect(sent).toEqual([`$KV.endpoints.${body.id}`]);
    }, SOON);
  });

  test('changes nothing that routes', async () => {
    const { body } = await create('sound');
    sent.length = 0;
    const changed = await bench.call(`PATCH /v2/serverless/${body.id}`, {
      body: { name: 'doomed', workers: { max: 77 } },
    });
    expect(changed.status).toBe(503);
    expect(await bench.endpointSnapshot(body.id)).toMatchObject({ workersMax: 3 });
    expect(sent).toEqual([]);
  });
});

describe('when the answer comes', () => {
  test('the routers know what stands at the door of a load-balanced endpoint', async () => {
    const balanced = { type: 'LOAD_BALANCER', scaling: { type: 'REQUEST_COUNT', requestCount: 2 } };
    const request = { ...QUEUE_ENDPOINT, ...balanced, env: { HEALTH_CHECK_PATH: 'ready?deep=1' } };
    const { body, status } = await bench.call('POST /v2/serverless', { body: request });
    expect(status).toBe(201);
    const closed = await bench.endpointSnapshot(body.id);
    expect(closed).toMatchObject({ healthCheckPath: '/ready?deep=1' });
    expect(closed).not.toHaveProperty('access');
    const change = { loadBalancer: { isPublic: true }, env: {} };
    expect(await bench.call(`PATCH /v2/serverless/${body.id}`, { body: change })).toMatchObject({
      status: 200,
      body: { loadBalancer: { isPublic: true, allowsPreflights: false } },
    });
    expect(await bench.endpointSnapshot(body.id)).toMatchObject({
      access: { isPublic: true, allowsPreflights: false },
      healthCheckPath: '/ping',
    });
  });

  test('the routers know: of what was made, changed and deleted; and nothing is left to publish', async () => {
    const { body } = await create('known');
    expect(await bench.endpointSnapshot(body.id)).toMatchObject({ id: body.id, isDeleted: false });
    expect(await secretsSnapshot(body.id)).toMatchObject({ endpointId: body.id });
    await bench.call(`PATCH /v2/serverless/${body.id}`, { body: { workers: { max: 9 } } });
    expect(await bench.endpointSnapshot(body.id)).toMatchObject({ workersMax: 9 });
    await bench.call(`DELETE /v2/serverless/${body.id}`);
    expect(await bench.endpointSnapshot(body.id)).toMatchObject({ isDeleted: true });
    expect(await secretsSnapshot(body.id)).toBeUndefined();
    expect(await waiting()).toBe(0);
  });

  test('the newer of two changes that come at once is what they know', async () => {
    const { body } = await create('contended');
    for (let round = 0; round < 20; round += 1) {
      const changes = [2 * round + 4, 2 * round + 5].map((max, index) =>
        bench.call(`PATCH /v2/serverless/${body.id}`, {
          body: { workers: { max } },
          ...(index === 0 ? {} : { url: other }),
        }),
      );
      await Promise.all(changes);
      const { workers } = (await bench.call(`GET /v2/serverless/${body.id}`)).body;
      expect(await bench.endpointSnapshot(body.id)).toMatchObject({ workersMax: workers.max });
    }
  });
});

describe('a process that dies between its commit and what it would publish', () => {
  test('leaves that to the others, who do it within seconds', async () => {
    const { body } = await create('orphaned');
    const id = body.id as EndpointId;
    const broker = await Broker.over({ connection: await bench.nats.connect() });
    const database = new Database(bench.source);
    const parts = { broker, clock: systemClock, logger: silentLogger, metrics: new MetricRegistry() };
    // What is to be done after the commit is never done.
    const dying = composeSnapshots({ ...parts, database, transactions: { afterCommit: () => undefined } });
    await database.transaction(async (manager) => {
      await manager.query(
        `UPDATE endpoints SET spec = jsonb_set(spec, '{workers,max}', '55'), version = version + 1 WHERE id = $1`,
        [id],
      );
      await dying.snapshots.endpointsChanged([id]);
    });
    await eventually(async () => {
      expect(await bench.endpointSnapshot(id)).toMatchObject({ workersMax: 55 });
      expect(await waiting()).toBe(0);
    }, SOON);
  });
});

describe('a broker that dies between the commit and the snapshot', () => {
  test('takes nothing back: the answer is the one that is kept, and the routers know once it is there again', async () => {
    const gate = bench.source.createQueryRunner();
    await gate.query('SELECT pg_advisory_lock($1)', [GATE]);
    const headers = { 'idempotency-key': 'held-up' };
    const answer = create('held up', headers);
    await eventually(async () => {
      const held = await gate.query(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`);
      expect(held).toHaveLength(1);
    }, SOON);
    await bench.nats.server.kill();
    await gate.query('SELECT pg_advisory_unlock($1)', [GATE]);
    await gate.release();
    const { body, status } = await answer;
    expect(status).toBe(201);
    expect(await waiting()).toBe(2);
    await bench.nats.restart('kill');
    await eventually(async () => {
      expect(await bench.endpointSnapshot(body.id)).toMatchObject({ id: body.id, isDeleted: false });
      expect(await secretsSnapshot(body.id)).toMatchObject({ endpointId: body.id });
      expect(await waiting()).toBe(0);
    }, BACK);
    const again = await create('held up', headers);
    expect([again.status, again.body]).toEqual([201, body]);
  });

  test('and what waits meanwhile is seen in the metrics', async () => {
    const metrics = await (await fetch(`${bench.operationsUrl}/metrics`)).text();
    expect(metrics).toMatch(/^berth_management_snapshot_outbox_entries \d+$/m);
    expect(metrics).toMatch(/^berth_management_snapshot_outbox_oldest_age_seconds [\d.]+$/m);
  });
});
