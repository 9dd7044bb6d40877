import { eventually } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Database } from '../src/persistence/database.js';
import { EnvSeal } from '../src/persistence/env-seal.js';
import { EnvBackfillStore } from '../src/sealing/env-backfill.store.js';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();

const SECRET = 'hunter2-of-the-environment';
const ENV = { DATABASE_URL: `postgres://app:${SECRET}@db/app`, EMPTY: '' };

/** Every row of every table, as text. */
async function dump(): Promise<string> {
  const tables = await bench.source.query<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      bench.source.query<{ text: string }[]>(`SELECT row_to_json(t)::text AS text FROM "${name}" t`),
    ),
  );
  return JSON.stringify(rows);
}

const backfill = (): EnvBackfillStore => new EnvBackfillStore(new Database(bench.source), new EnvSeal(bench.secrets));

let endpointId = '';
let templateId = '';

beforeEach(async () => {
  const template = { name: 't', image: 'local/echo', serverless: true, env: ENV };
  templateId = (await bench.call('POST /v2/templates', { body: template })).body.id as string;
  const endpoint = { ...QUEUE_ENDPOINT, env: ENV };
  endpointId = (await bench.call('POST /v2/serverless', { body: endpoint })).body.id as string;
});

const envOf = async (): Promise<unknown> => (await bench.call(`GET /v2/serverless/${endpointId}`)).body.env;

describe('environment variables', () => {
  test('are in no row in the clear, and the API shows the plain map', async () => {
    await bench.call(`PATCH /v2/serverless/${endpointId}`, { body: { env: { ...ENV, MORE: SECRET } } });
    expect(await envOf()).toEqual({ ...ENV, MORE: SECRET });
    expect((await bench.call(`GET /v2/templates/${templateId}`)).body.env).toEqual(ENV);
    const { body } = await bench.call('GET /v2/serverless');
    expect(body.endpoints).toContainEqual(expect.objectContaining({ id: endpointId, env: { ...ENV, MORE: SECRET } }));
    expect(await dump()).not.toContain(SECRET);
  });

  test('of an endpoint that is made from a template, or in the older form, rest sealed too', async () => {
    const { body } = await bench.call('POST /v2/serverless', {
      body: { ...QUEUE_ENDPOINT, image: undefined, templateId, env: { OWN: SECRET } },
    });
    expect(body.env).toEqual({ ...ENV, OWN: SECRET });
    const made = await bench.call('POST /v1/endpoints', {
      body: { name: 'old', templateId, gpuTypeIds: ['NVIDIA GeForce RTX 4090'], workersMax: 1 },
      headers: { 'idempotency-key': 'env' },
    });
    expect(made.status).toBe(201);
    expect(await dump()).not.toContain(SECRET);
  });

  test('what a change tells rests sealed, and is told as it was, but for what a name marks as a secret', async () => {
    await bench.call(`PATCH /v2/serverless/${endpointId}`, { body: { env: { DATABASE_URL: 'x', API_KEY: SECRET } } });
    const { body } = await bench.call(`GET /v2/serverless/${endpointId}/releases`);
    expect(body.releases[0].diff).toEqual([
      { field: 'env.API_KEY', old: null, new: '***' },
      { field: 'env.DATABASE_URL', old: ENV.DATABASE_URL, new: 'x' },
      { field: 'env.EMPTY', old: '', new: null },
    ]);
    const { entries } = (await bench.call('GET /v2/audit?limit=1')).body;
    expect(entries[0].diff).toEqual(body.releases[0].diff);
    expect(await dump()).not.toContain(SECRET);
  });
});

describe('rows from before variables were sealed', () => {
  beforeEach(async () => {
    const env = JSON.stringify(ENV);
    await bench.source.query(`UPDATE endpoints SET spec = jsonb_set(spec, '{container,env}', $2) WHERE id = $1`, [
      endpointId,
      env,
    ]);
    await bench.source.query(
      `UPDATE releases SET container = jsonb_set(container, '{env}', $2) WHERE endpoint_id = $1`,
      [endpointId, env],
    );
    await bench.source.query(`UPDATE templates SET env = $2 WHERE id = $1`, [templateId, env]);
  });

  test('are read as they are, sealed by the backfill, and the same afterwards', async () => {
    const before = await bench.call(`GET /v2/serverless/${endpointId}`);
    expect(before.body.env).toEqual(ENV);
    expect(await dump()).toContain(SECRET);
    expect(await backfill().sealSome(10)).toBe(3);
    expect(await backfill().sealSome(10)).toBe(0);
    expect(await dump()).not.toContain(SECRET);
    const after = await bench.call(`GET /v2/serverless/${endpointId}`);
    expect(after.body).toEqual(before.body);
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
    expect((await bench.call(`GET /v2/templates/${templateId}`)).body.env).toEqual(ENV);
  });

  test('are sealed by every process that starts', async () => {
    const process = await bench.startProcess();
    await eventually(async () => expect(await dump()).not.toContain(SECRET), { deadlineMs: 90_000 });
    await process.stop();
  });
});

test('the schema takes sealed text or a map, and nothing else', async () => {
  for (const env of ['"hunter2"', '[]', '7', 'null']) {
    const writes = [
      bench.source.query(`UPDATE endpoints SET spec = jsonb_set(spec, '{container,env}', $1)`, [env]),
      bench.source.query(`UPDATE releases SET container = jsonb_set(container, '{env}', $1)`, [env]),
      bench.source.query(`UPDATE templates SET env = $1`, [env]),
    ];
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  }
});
