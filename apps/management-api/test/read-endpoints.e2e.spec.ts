import { beforeAll, describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, each, useManagementApi } from './management-bench.js';

const bench = useManagementApi();

let mine: string;
let foreign: string;
let foreignKey: string;
let limitedKey: string;
let outside: string;

const create = async (name: string, key?: string): Promise<string> => {
  const body = { ...QUEUE_ENDPOINT, name };
  const answer = await bench.call('POST /v2/serverless', { body, ...(key === undefined ? {} : { key }) });
  return answer.body.id as string;
};

beforeAll(async () => {
  foreignKey = await bench.newAccount('other');
  mine = await create('mine');
  outside = await create('outside');
  foreign = await create('foreign', foreignKey);
  limitedKey = await bench.newKey(['serverless:*'], { maker: bench.operatorKey, endpointIds: [mine] });
});

describe('GET /v2/serverless/{id}', () => {
  test('200 with the endpoint as it was created', async () => {
    const listed = await bench.call('GET /v2/serverless');
    const { body, status } = await bench.call(`GET /v2/serverless/${mine}`);
    expect(status).toBe(200);
    expect(listed.body.endpoints).toContainEqual(body);
  });

  test('401 without a key', async () => {
    expect(await bench.call(`GET /v2/serverless/${mine}`, { key: null })).toMatchObject({ status: 401 });
  });

  test('403 without the scope, and for an endpoint of the own account that the key does not reach', async () => {
    const key = await bench.keyWithout('serverless:read');
    expect(await bench.call(`GET /v2/serverless/${mine}`, { key })).toMatchObject({ status: 403 });
    expect(await bench.call(`GET /v2/serverless/${outside}`, { key: limitedKey })).toMatchObject({ status: 403 });
  });

  test('404, the same for an unknown and for a foreign endpoint, also for a limited key', async () => {
    const unknown = await bench.call('GET /v2/serverless/nope');
    const other = await bench.call(`GET /v2/serverless/${foreign}`);
    expect(unknown.status).toBe(404);
    expect({ ...other.body, instance: null }).toEqual({ ...unknown.body, instance: null });
    expect(await bench.call(`GET /v2/serverless/${foreign}`, { key: limitedKey })).toMatchObject({ status: 404 });
  });

  test.each(['%00', '%', '..%2F..', 'x'.repeat(600), '%F0%9F%9A%80'])('404 for the id %s', async (id) => {
    expect(await bench.call(`GET /v2/serverless/${id}`)).toMatchObject({ status: 404 });
  });

  test('405 with the methods that there are', async () => {
    const { headers, status } = await bench.call(`PUT /v2/serverless/${mine}`, { body: {} });
    expect([status, headers.get('allow')]).toEqual([405, 'DELETE, GET, HEAD, PATCH']);
  });
});

describe('GET /v2/serverless', () => {
  const names = async (key: string): Promise<string[]> =>
    each(await bench.call('GET /v2/serverless', { key }), 'endpoints', 'name');

  test('200 with the endpoints of the own account only, oldest first', async () => {
    expect(await names(bench.operatorKey)).toEqual(['mine', 'outside']);
    expect(await names(foreignKey)).toEqual(['foreign']);
  });

  test('200 with those alone that the key reaches', async () => {
    expect(await names(limitedKey)).toEqual(['mine']);
  });

  test('403 without the scope', async () => {
    const key = await bench.keyWithout('serverless:read');
    expect(await bench.call('GET /v2/serverless', { key })).toMatchObject({ status: 403 });
  });
});

describe('DELETE /v2/serverless/{id}', () => {
  test('204; it is gone, the routers see a tombstone, and a repeat is 404', async () => {
    const id = await create('short-lived');
    expect(await bench.call(`DELETE /v2/serverless/${id}`)).toMatchObject({ status: 204, body: null });
    expect(await bench.call(`GET /v2/serverless/${id}`)).toMatchObject({ status: 404 });
    expect(await bench.call(`DELETE /v2/serverless/${id}`)).toMatchObject({ status: 404 });
    expect((await bench.call('GET /v2/serverless')).body.endpoints).not.toContainEqual(expect.objectContaining({ id }));
    expect(await bench.endpointSnapshot(id)).toMatchObject({ isDeleted: true, deletedAtMs: expect.any(Number) });
  });

  test('403 without the scope or beyond the key, 404 for a foreign endpoint; nothing is deleted', async () => {
    const key = await bench.keyWithout('serverless:write');
    expect(await bench.call(`DELETE /v2/serverless/${mine}`, { key })).toMatchObject({ status: 403 });
    expect(await bench.call(`DELETE /v2/serverless/${outside}`, { key: limitedKey })).toMatchObject({ status: 403 });
    expect(await bench.call(`DELETE /v2/serverless/${foreign}`)).toMatchObject({ status: 404 });
    expect(await bench.call(`GET /v2/serverless/${outside}`)).toMatchObject({ status: 200 });
    expect(await bench.call(`GET /v2/serverless/${foreign}`, { key: foreignKey })).toMatchObject({ status: 200 });
  });
});
