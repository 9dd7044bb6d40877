import { CONTROL_HINT_SUBJECT } from '@berth/contracts';
import { systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, each, useManagementApi, type Answer, type CallOptions } from './management-bench.js';

const bench = useManagementApi();
const PATIENCE = { deadlineMs: 90_000, intervalMs: 200 };

/** `POST` with an idempotency key. */
const post = (path: string, idempotencyKey: string, options: CallOptions): Promise<Answer> =>
  bench.call(`POST ${path}`, { ...options, headers: { 'idempotency-key': idempotencyKey } });

const create = (idempotencyKey: string, options: CallOptions = {}): Promise<Answer> =>
  post('/v2/serverless', idempotencyKey, { body: QUEUE_ENDPOINT, ...options });

const endpoints = async (key: string): Promise<string[]> =>
  each(await bench.call('GET /v2/serverless', { key }), 'endpoints', 'id');

const replayed = ({ headers }: Answer): boolean => headers.get('idempotency-replayed') === 'true';

const keyRows = (key: string): Promise<Record<string, unknown>[]> =>
  bench.source.query('SELECT * FROM idempotency_keys WHERE key = $1', [key]);

describe('the same request with the same key', () => {
  test('is answered as the first time and creates nothing, in any process, also after a restart', async () => {
    const account = await bench.newAccount();
    const [other, key] = [await bench.startProcess(), systemRandom.uuid()];
    const first = await create(key, { key: account });
    expect([first.status, replayed(first)]).toEqual([201, false]);
    const text = JSON.stringify(Object.fromEntries(Object.entries(QUEUE_ENDPOINT).reverse()), null, 1);
    const later = await bench.startProcess();
    for (const options of [{}, { text }, { url: other.url }, { url: later.url }]) {
      const again = await create(key, { key: account, ...options });
      expect(again).toMatchObject({ status: 201, body: first.body });
      expect([replayed(again), again.headers.get('etag')]).toEqual([true, first.headers.get('etag')]);
    }
    expect(await endpoints(account)).toEqual([first.body.id]);
    await Promise.all([other.stop(), later.stop()]);
  });

  test('is carried out once when twenty come at once over two processes', async () => {
    const account = await bench.newAccount();
    const [other, key] = [await bench.startProcess(), systemRandom.uuid()];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        create(key, { key: account, ...(index % 2 === 0 ? {} : { url: other.url }) }),
      ),
    );
    expect(new Set(answers.map(({ body, status }) => `${status} ${body.id}`)).size).toBe(1);
    expect(answers.filter((answer) => !replayed(answer))).toHaveLength(1);
    expect(await endpoints(account)).toHaveLength(1);
    await other.stop();
  });

  test('is another request for another account, or on another path', async () => {
    const key = systemRandom.uuid();
    const made = await Promise.all([create(key), create(key, { key: await bench.newAccount() })]);
    expect(new Set(made.map(({ body }) => String(body.id))).size).toBe(2);
    expect(await post('/v2/accounts', key, { body: { name: 'a' } })).toMatchObject({ status: 201 });
  });
});

test('another body under the same key is 409', async () => {
  const key = systemRandom.uuid();
  await create(key);
  const answer = await create(key, { body: { ...QUEUE_ENDPOINT, name: 'other' } });
  expect(answer).toMatchObject({
    status: 409,
    body: { type: 'https://api.example.com/docs/problems/idempotency-key-reused' },
  });
});

test.each(['', 'a b', 'x'.repeat(256)])('a key that is none (%#) is 400', async (key) => {
  expect(await create(key)).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('Idempotency-Key') },
  });
});

test('a request that failed leaves no trace: it is corrected and sent again with the same key', async () => {
  const key = systemRandom.uuid();
  const wrong: [CallOptions, number][] = [
    [{ text: '{' }, 400],
    [{ body: { ...QUEUE_ENDPOINT, name: 1 } }, 422],
    [{ body: { ...QUEUE_ENDPOINT, templateId: 'nothing' } }, 404],
    [{ key: null }, 401],
  ];
  for (const [options, status] of wrong) expect(await create(key, options)).toMatchObject({ status });
  expect(await keyRows(key)).toEqual([]);
  const right = await create(key);
  expect([right.status, replayed(right)]).toEqual([201, false]);
});

test('a secret that is shown once is shown again to who asks again, and rests in no clear text', async () => {
  const key = systemRandom.uuid();
  const options = { body: { name: 'k', scopes: ['serverless:read'] } };
  const first = await post('/v2/api-keys', key, options);
  const again = await post('/v2/api-keys', key, options);
  expect([first.status, again.body.key, replayed(again)]).toEqual([201, first.body.key, true]);
  expect(await bench.call('GET /v2/serverless', { key: again.body.key })).toMatchObject({ status: 200 });
  const [row] = await keyRows(key);
  expect(row).toMatchObject({ status: 201, sealed: expect.stringMatching(/^v1\./) });
  expect(JSON.stringify(row)).not.toContain(String(first.body.key).slice(-40));
});

test('another key of the account that may ask the same gets the same answer', async () => {
  const [account, key] = [await bench.newAccount(), systemRandom.uuid()];
  const first = await create(key, { key: account });
  const again = await create(key, { key: await bench.newKey(['serverless:write'], { maker: account }) });
  expect([again.status, again.body, replayed(again)]).toEqual([201, first.body, true]);
});

test('a key that may do less cannot get another’s secret by asking again', async () => {
  const [account, key] = [await bench.newAccount(), systemRandom.uuid()];
  const options = { body: { name: 'k', scopes: ['keys:write'] } };
  await post('/v2/api-keys', key, { ...options, key: account });
  const lesser = await bench.newKey(['keys:write'], { maker: account });
  expect(await post('/v2/api-keys', key, { ...options, key: lesser })).toMatchObject({ status: 409 });
});

test('a second request waits for the first; when that does not end, it is 409', async () => {
  const key = systemRandom.uuid();
  const runner = bench.source.createQueryRunner();
  await runner.startTransaction();
  await runner.query(
    `INSERT INTO idempotency_keys (account_id, route, key, expires_at)
     VALUES ('default', 'POST /v2/serverless', $1, now() + interval '1 day')`,
    [key],
  );
  const answer = await create(key);
  expect(answer).toMatchObject({
    status: 409,
    body: { type: 'https://api.example.com/docs/problems/idempotency-in-progress' },
  });
  const waiting = create(key);
  await eventually(async () => {
    const blocked = await bench.source.query<object[]>(`SELECT 1 FROM pg_locks WHERE NOT granted`);
    expect(blocked).toHaveLength(1);
  }, PATIENCE);
  await runner.rollbackTransaction();
  await runner.release();
  expect(replayed(await waiting)).toBe(false);
  expect((await waiting).status).toBe(201);
});

test('the control loops are hurried when the request’s rows can be seen, and not before', async () => {
  await bench.source.query(`CREATE FUNCTION slow_commit() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN PERFORM pg_sleep(0.3); RETURN NULL; END $$`);
  await bench.source
    .query(`CREATE CONSTRAINT TRIGGER slow_commit AFTER INSERT ON endpoints DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION slow_commit()`);
  const connection = await bench.nats.connect();
  const hints = connection.subscribe(CONTROL_HINT_SUBJECT, { max: 1 });
  await connection.flush();
  const rowsAtHint = (async () => {
    const rows: object[] = [];
    for await (const hint of hints) {
      const { body } = hint.json<{ body: { endpointId: string } }>();
      rows.push(...(await bench.source.query<object[]>('SELECT id FROM endpoints WHERE id = $1', [body.endpointId])));
    }
    return rows;
  })();
  const { body } = await create(systemRandom.uuid());
  expect(await rowsAtHint).toEqual([{ id: body.id }]);
  await connection.close();
  await bench.source.query('DROP FUNCTION slow_commit CASCADE');
});

test('a key is free again when its time is over, and its row is forgotten', async () => {
  const key = systemRandom.uuid();
  const first = await create(key);
  await bench.source.query('UPDATE idempotency_keys SET expires_at = now() WHERE key = $1', [key]);
  const second = await create(key, { body: { ...QUEUE_ENDPOINT, name: 'other' } });
  expect([second.status, replayed(second)]).toEqual([201, false]);
  expect(second.body.id).not.toBe(first.body.id);
  await bench.source.query('UPDATE idempotency_keys SET expires_at = now() WHERE key = $1', [key]);
  const starting = await bench.startProcess();
  await eventually(async () => expect(await keyRows(key)).toEqual([]), PATIENCE);
  await starting.stop();
});

describe('a request that is cut off in the middle', () => {
  const backend = `SELECT pid FROM pg_stat_activity WHERE application_name = 'berth-management-api'
                      AND state = 'idle in transaction'`;

  test('by the end of its connection leaves neither a resource nor an answer', async () => {
    const [account, key] = [await bench.newAccount(), systemRandom.uuid()];
    process.kill(bench.nats.server.pid, 'SIGSTOP');
    try {
      // It has written its rows and now waits for the broker: the moment at which a process may die.
      const cut = create(key, { key: account });
      await eventually(async () => expect(await bench.source.query(backend)).toHaveLength(1), PATIENCE);
      await bench.source.query(`SELECT pg_terminate_backend(pid) FROM (${backend}) AS it`);
      process.kill(bench.nats.server.pid, 'SIGCONT');
      expect((await cut).status).toBe(503);
    } finally {
      process.kill(bench.nats.server.pid, 'SIGCONT');
    }
    expect([await endpoints(account), await keyRows(key)]).toEqual([[], []]);
    const again = await create(key, { key: account });
    expect([again.status, replayed(again)]).toEqual([201, false]);
    expect(await endpoints(account)).toEqual([again.body.id]);
  });

  test('by a broker that is away leaves neither, and is carried out when it is back', async () => {
    const [account, key] = [await bench.newAccount(), systemRandom.uuid()];
    await bench.nats.server.kill();
    expect(await create(key, { key: account })).toMatchObject({ status: 503 });
    expect([await endpoints(account), await keyRows(key)]).toEqual([[], []]);
    await bench.nats.restart('kill');
    await eventually(async () => {
      const answer = await create(key, { key: account });
      expect([answer.status, replayed(answer)]).toEqual([201, false]);
    }, PATIENCE);
    expect(await endpoints(account)).toHaveLength(1);
  });
});

test.each([
  ['no account', `('nobody', 'POST /v2/serverless', 'k', now())`],
  ['a key with a space', `('default', 'POST /v2/serverless', 'a b', now())`],
  ['a route that is none', `('default', 'serverless', 'k', now())`],
  ['an answer in clear text', `('default', 'POST /v2/serverless', 'k', now(), 201, '{}')`, ', status, sealed'],
  ['a status without an answer', `('default', 'POST /v2/serverless', 'k', now(), 201)`, ', status'],
])('the database refuses a row of %s', async (_, row, more = '') => {
  const insert = `INSERT INTO idempotency_keys (account_id, route, key, expires_at${more}) VALUES ${row}`;
  await expect(bench.source.query(insert)).rejects.toThrow(/violates (check|foreign key) constraint/);
});
