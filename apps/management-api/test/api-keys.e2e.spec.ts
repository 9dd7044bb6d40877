import { describe, expect, test } from '@jest/globals';
import { SCOPES } from '@berth/domain';
import { prefixOfApiKey } from '@berth/http';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { QUEUE_ENDPOINT, each, failedPaths, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

const create = (body: object, key = bench.operatorKey): Promise<Answer> =>
  bench.call('POST /v2/api-keys', { body, key });

describe('POST /v2/api-keys', () => {
  test('201 with the key, which works at once and is known to the routers', async () => {
    const { body, status } = await create({ name: 'ci', scopes: ['jobs:*', 'serverless:read'] });
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.any(String),
      name: 'ci',
      key: expect.stringMatching(/^bk_[a-z0-9]+_[a-z0-9]{40}$/),
      prefix: prefixOfApiKey(String(body.key)),
      scopes: ['serverless:read', 'jobs:read', 'jobs:write'],
      endpointIds: null,
      expiresAt: null,
      createdAt: expect.any(String),
    });
    expect(await bench.call('GET /v2/serverless', { key: body.key })).toMatchObject({ status: 200 });
    const snapshot = await bench.apiKeySnapshot(body.prefix);
    expect(snapshot).toMatchObject({ id: body.id, accountId: 'default', scopes: body.scopes, expiresAtMs: null });
    expect(JSON.stringify(snapshot)).not.toContain(body.key);
  });

  test('201 with a preset, an end and a list of endpoints', async () => {
    const endpoint = await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT });
    const expiresAt = new Date(systemClock.nowMs() + 3_600_000).toISOString();
    const endpointIds = [endpoint.body.id];
    const { body } = await create({ name: 'all', preset: 'all', expiresAt, endpointIds });
    expect(body).toMatchObject({ expiresAt, endpointIds, scopes: SCOPES.filter((scope) => scope !== 'admin') });
  });

  test.each([
    [['serverless:*'], ['serverless:read', 'serverless:write']],
    [
      ['keys:*', 'keys:read'],
      ['keys:read', 'keys:write'],
    ],
    [['catalog:*'], ['catalog:read']],
    [
      ['clusters:write', 'volumes:*', 'clusters:write'],
      ['volumes:read', 'volumes:write', 'clusters:write'],
    ],
    [['admin'], ['admin']],
  ])('201: the scopes %j are %j', async (scopes, granted) => {
    expect(await create({ name: 'x', scopes })).toMatchObject({ status: 201, body: { scopes: granted } });
  });

  test('201: a preset is what it was when the key was made, and never the operator’s part', async () => {
    const { body } = await create({ name: 'x', preset: 'read-only' });
    expect(body.scopes).toEqual(SCOPES.filter((scope) => scope.endsWith(':read')));
  });

  test('201: names may repeat', async () => {
    const [one, other] = await Promise.all([
      create({ name: 'x', preset: 'all' }),
      create({ name: 'x', preset: 'all' }),
    ]);
    expect(one.body.id).not.toBe(other.body.id);
  });

  test('a key is refused from its end on', async () => {
    // An end that a slow machine reaches before its key is refused.
    const { body } = await eventually(async () => {
      const expiresAt = new Date(systemClock.nowMs() + 2_000).toISOString();
      const made = await create({ name: 'short', preset: 'all', expiresAt });
      expect(made.status).toBe(201);
      return made;
    });
    await eventually(async () => {
      const answer = await bench.call('GET /v2/serverless', { key: body.key });
      expect(answer).toMatchObject({ status: 401, body: { detail: 'expired bearer token' } });
    });
  });

  test.each([
    ['neither scopes nor preset', {}],
    ['both', { scopes: ['jobs:read'], preset: 'all' }],
  ])('400 for %s', async (_, changes) => {
    expect(await create({ name: 'x', ...changes })).toMatchObject({ status: 400 });
  });

  test('403 for what the maker lacks: a scope, all endpoints, another endpoint', async () => {
    const maker = await bench.newAccount();
    expect(await create({ name: 'x', scopes: ['admin'] }, maker)).toMatchObject({ status: 403 });
    const ids = await Promise.all(
      ['a', 'b'].map(async (name) => {
        const answer = await bench.call('POST /v2/serverless', { key: maker, body: { ...QUEUE_ENDPOINT, name } });
        return answer.body.id as string;
      }),
    );
    const limited = await bench.newKey(['keys:*'], { maker, endpointIds: ids.slice(0, 1) });
    expect(await create({ name: 'x', scopes: ['keys:read'] }, limited)).toMatchObject({ status: 403 });
    expect(await create({ name: 'x', scopes: ['keys:read'], endpointIds: ids }, limited)).toMatchObject({
      status: 403,
    });
    expect(await create({ name: 'x', scopes: ['keys:read'], endpointIds: ids.slice(0, 1) }, limited)).toMatchObject({
      status: 201,
    });
  });

  test('403 for more time than the maker has', async () => {
    const ends = systemClock.nowMs() + 3_600_000;
    const at = (ms: number): string => new Date(ms).toISOString();
    const { body: maker } = await create({ name: 'x', preset: 'all', expiresAt: at(ends) });
    for (const more of [{}, { expiresAt: null }, { expiresAt: at(ends + 1) }]) {
      expect(await create({ name: 'y', scopes: ['jobs:read'], ...more }, maker.key)).toMatchObject({ status: 403 });
    }
    expect(await create({ name: 'y', scopes: ['jobs:read'], expiresAt: at(ends) }, maker.key)).toMatchObject({
      status: 201,
    });
  });

  test('409 for a key with an end that asks again for one without', async () => {
    const maker = await bench.newAccount();
    const { body: brief } = await create({ name: 'x', preset: 'all', expiresAt: '2999-01-01T00:00:00Z' }, maker);
    const ask = (key: string): Promise<Answer> => {
      const body = { name: 'eternal', scopes: ['keys:read'] };
      return bench.call('POST /v2/api-keys', { key, body, headers: { 'idempotency-key': 'the-same' } });
    };
    expect((await ask(maker)).status).toBe(201);
    expect(await ask(brief.key as string)).toMatchObject({ status: 409 });
  });

  test('403 without the scope keys:write', async () => {
    const key = await bench.newKey(['keys:read']);
    expect(await create({ name: 'x', scopes: ['keys:read'] }, key)).toMatchObject({ status: 403 });
  });

  test('404 for a foreign or unknown endpoint', async () => {
    const foreign = await bench.call('POST /v2/serverless', { key: await bench.newAccount(), body: QUEUE_ENDPOINT });
    for (const id of [foreign.body.id, 'nope']) {
      expect(await create({ name: 'x', preset: 'all', endpointIds: [id] })).toMatchObject({ status: 404 });
    }
  });

  test.each<[object, string]>([
    [{ scopes: [] }, '$.scopes'],
    [{ scopes: ['jobs'] }, '$.scopes'],
    [{ scopes: ['*'] }, '$.scopes'],
    [{ scopes: ['admin:*'] }, '$.scopes'],
    [{ scopes: ['jobs:delete'] }, '$.scopes'],
    [{ scopes: ['jobs:read '] }, '$.scopes'],
    [{ scopes: 'jobs:read' }, '$.scopes'],
    [{ scopes: null }, '$.scopes'],
    [{ preset: 'everything' }, '$.preset'],
    [{ preset: 'all', endpointIds: [] }, '$.endpointIds'],
    [{ preset: 'all', expiresAt: '2020-01-01T00:00:00Z' }, '$.expiresAt'],
    [{ preset: 'all', expiresAt: 'tomorrow' }, '$.expiresAt'],
    [{ preset: 'all', expiresAt: 1_900_000_000_000 }, '$.expiresAt'],
    [{ preset: 'all', expiresAt: '2030-01-01' }, '$.expiresAt'],
    [{ preset: 'all', expiresAt: '2030-01-01T00:00:00' }, '$.expiresAt'],
    [{ preset: 'all', expiresAt: '2030-13-01T00:00:00Z' }, '$.expiresAt'],
    [{ preset: 'all', name: '' }, '$.name'],
    [{ preset: 'all', bogus: 1 }, '$'],
  ])('422 for %j', async (changes, path) => {
    const answer = await create({ name: 'x', ...changes });
    expect(answer.status).toBe(422);
    expect(failedPaths(answer)).toEqual([path]);
  });
});

describe('GET /v2/api-keys', () => {
  test('200 with the keys of the own account, without the keys themselves', async () => {
    const maker = await bench.newAccount();
    const { body: made } = await create({ name: 'second', preset: 'read-only' }, maker);
    const answer = await bench.call('GET /v2/api-keys', { key: maker });
    expect(each(answer, 'apiKeys', 'name')).toEqual(['first key', 'second']);
    expect(JSON.stringify(answer.body)).not.toContain(made.key);
    expect(JSON.stringify(answer.body)).not.toContain('hash');
  });

  test('403 without the scope', async () => {
    const key = await bench.newKey(['keys:write']);
    expect(await bench.call('GET /v2/api-keys', { key })).toMatchObject({ status: 403 });
  });
});

describe('DELETE /v2/api-keys/{id}', () => {
  test('204; the key is refused here at once and gone for the routers', async () => {
    const { body } = await create({ name: 'x', preset: 'all' });
    expect(await bench.call(`DELETE /v2/api-keys/${body.id}`)).toMatchObject({ status: 204 });
    expect(await bench.call('GET /v2/serverless', { key: body.key })).toMatchObject({
      status: 401,
      body: { detail: 'invalid bearer token' },
    });
    expect(await bench.apiKeySnapshot(body.prefix)).toBeUndefined();
  });

  test('204: a key may revoke itself, and is refused from the next request on', async () => {
    const { body } = await create({ name: 'x', preset: 'all' });
    expect(await bench.call(`DELETE /v2/api-keys/${body.id}`, { key: body.key })).toMatchObject({ status: 204 });
    expect(await bench.call(`DELETE /v2/api-keys/${body.id}`, { key: body.key })).toMatchObject({ status: 401 });
    expect(await bench.call(`DELETE /v2/api-keys/${body.id}`)).toMatchObject({ status: 404 });
  });

  test('204: what a key has made outlives it', async () => {
    const { body } = await create({ name: 'x', preset: 'all' });
    const endpoint = await bench.call('POST /v2/serverless', { key: body.key, body: QUEUE_ENDPOINT });
    const child = await create({ name: 'child', preset: 'read-only' }, body.key);
    await bench.call(`DELETE /v2/api-keys/${body.id}`);
    expect(await bench.call(`GET /v2/serverless/${endpoint.body.id}`, { key: child.body.key })).toMatchObject({
      status: 200,
    });
  });

  test('404 for an unknown key and for one of another account, which goes on working', async () => {
    const foreign = await bench.newAccount();
    const { body } = await bench.call('GET /v2/api-keys', { key: foreign });
    expect(await bench.call(`DELETE /v2/api-keys/${body.apiKeys[0].id}`)).toMatchObject({ status: 404 });
    expect(await bench.call('DELETE /v2/api-keys/nope')).toMatchObject({ status: 404 });
    expect(await bench.call('GET /v2/serverless', { key: foreign })).toMatchObject({ status: 200 });
  });
});
