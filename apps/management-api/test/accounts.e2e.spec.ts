import { describe, expect, test } from '@jest/globals';
import { SCOPE_PRESETS } from '@berth/domain';
import { prefixOfApiKey } from '@berth/http';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();

describe('POST /v2/accounts', () => {
  test('201 with a first key for everything but the operator’s part', async () => {
    const { body, status } = await bench.call('POST /v2/accounts', { body: { name: 'team a' } });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'team a',
      createdAt: expect.any(String),
      apiKey: { id: expect.any(String), name: 'first key', key: expect.any(String), scopes: [...SCOPE_PRESETS.all] },
    });
    const { key } = body.apiKey;
    expect(await bench.call('GET /v2/serverless', { key })).toMatchObject({ status: 200, body: { endpoints: [] } });
    expect(await bench.call('GET /v2/accounts', { key })).toMatchObject({ status: 403 });
  });

  test('400, 401, 403 and 422', async () => {
    expect(await bench.call('POST /v2/accounts', { text: '' })).toMatchObject({ status: 400 });
    expect(await bench.call('POST /v2/accounts', { key: null, body: { name: 'x' } })).toMatchObject({ status: 401 });
    const key = await bench.newAccount();
    expect(await bench.call('POST /v2/accounts', { key, body: { name: 'x' } })).toMatchObject({ status: 403 });
    expect(await bench.call('POST /v2/accounts', { body: { name: 1 } })).toMatchObject({
      status: 422,
      body: { errors: ['$.name: must be a string'] },
    });
  });
});

describe('GET /v2/accounts', () => {
  test('200 with all of them, and each by its id', async () => {
    const { body: made } = await bench.call('POST /v2/accounts', { body: { name: 'team b' } });
    const { apiKey: _, ...account } = made;
    expect((await bench.call('GET /v2/accounts')).body.accounts).toContainEqual(account);
    expect(await bench.call(`GET /v2/accounts/${account.id}`)).toMatchObject({ status: 200, body: account });
    expect(await bench.call('GET /v2/accounts/nope')).toMatchObject({ status: 404 });
  });
});

describe('DELETE /v2/accounts/{id}', () => {
  test('204; its keys are refused and its endpoints are gone, everywhere', async () => {
    const { body } = await bench.call('POST /v2/accounts', { body: { name: 'leaving' } });
    const { key } = body.apiKey;
    const endpoint = await bench.call('POST /v2/serverless', { key, body: QUEUE_ENDPOINT });
    expect(await bench.call(`DELETE /v2/accounts/${body.id}`)).toMatchObject({ status: 204 });
    expect(await bench.call('GET /v2/serverless', { key })).toMatchObject({ status: 401 });
    expect(await bench.apiKeySnapshot(prefixOfApiKey(String(key)) ?? '')).toBeUndefined();
    expect(await bench.endpointSnapshot(endpoint.body.id)).toMatchObject({ isDeleted: true });
    expect(await bench.call(`GET /v2/accounts/${body.id}`)).toMatchObject({ status: 404 });
    expect(await bench.call(`DELETE /v2/accounts/${body.id}`)).toMatchObject({ status: 404 });
  });

  test('400 for the own account', async () => {
    expect(await bench.call('DELETE /v2/accounts/default')).toMatchObject({ status: 400 });
    expect(await bench.call('GET /v2/serverless')).toMatchObject({ status: 200 });
  });
});
