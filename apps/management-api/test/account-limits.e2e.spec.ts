import { ACCOUNT_LIMITS, ACCOUNT_LIMITS_DEFAULT, SCOPES, type AccountLimit } from '@berth/domain';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, each, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

let id: string;
let key: string;

beforeEach(async () => {
  const { body } = await bench.call('POST /v2/accounts', { body: { name: 'tenant' } });
  id = body.id as string;
  key = body.apiKey.key as string;
});

const patch = (body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
  bench.call(`PATCH /v2/accounts/${id}`, { body, headers });

const get = (): Promise<Answer> => bench.call(`GET /v2/accounts/${id}`);

const create = (more: object = {}): Promise<Answer> =>
  bench.call('POST /v2/serverless', { key, body: QUEUE_ENDPOINT, ...more });

const newEndpoint = async (): Promise<string> => (await create()).body.id as string;

const limitsOf = async (endpointId: string) => (await bench.endpointSnapshot(endpointId))?.limits;

const waiting = async (): Promise<number> =>
  (await bench.source.query<unknown[]>('SELECT 1 FROM snapshot_outbox')).length;

const trail = async () =>
  (await bench.call(`GET /v2/audit?resourceId=${id}`)).body.entries as { action: string; diff: unknown }[];

describe('GET /v2/accounts/{id}', () => {
  test('tells the limits that count, and which of them an operator has set', async () => {
    expect((await get()).body).toEqual({
      id,
      name: 'tenant',
      createdAt: expect.any(String),
      limits: ACCOUNT_LIMITS_DEFAULT,
      overriddenLimits: [],
    });
    await patch({ limits: { heldCallsPerRouter: 7, endpoints: 1_000 } });
    expect((await get()).body).toMatchObject({
      limits: { ...ACCOUNT_LIMITS_DEFAULT, heldCallsPerRouter: 7 },
      overriddenLimits: ['endpoints', 'heldCallsPerRouter'],
    });
  });

  test('304 for the version that the caller has', async () => {
    const { headers } = await patch({ limits: { endpoints: 7 } });
    const conditional = { headers: { 'if-none-match': headers.get('etag') ?? '' } };
    expect(await bench.call(`GET /v2/accounts/${id}`, conditional)).toMatchObject({ status: 304, body: null });
  });
});

describe('PATCH /v2/accounts/{id}', () => {
  test('sets what is named, leaves what is not, and takes back what is null', async () => {
    expect(await patch({ limits: { jobsPerEndpoint: 7, chunkBytes: 2_000_000 } })).toMatchObject({ status: 200 });
    const { body, status } = await patch({ limits: { jobsPerEndpoint: null, endpoints: 3 } });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id,
      limits: { ...ACCOUNT_LIMITS_DEFAULT, chunkBytes: 2_000_000, endpoints: 3 },
      overriddenLimits: ['endpoints', 'chunkBytes'],
    });
    expect((await get()).body).toEqual(body);
  });

  test('takes every limit from its least to its most', async () => {
    for (const bound of ['minimum', 'maximum'] as const) {
      const limits = Object.fromEntries(
        Object.entries<AccountLimit>(ACCOUNT_LIMITS).map(([name, limit]) => [name, limit[bound]]),
      );
      expect((await patch({ limits })).body).toMatchObject({ limits, overriddenLimits: Object.keys(limits) });
    }
  });

  test('that changes nothing leaves no trace', async () => {
    const { headers } = await patch({ limits: { endpoints: 7 } });
    for (const body of [{}, { limits: {} }, { limits: { endpoints: 7, chunkBytes: null } }]) {
      const answer = await patch(body);
      expect([answer.status, answer.headers.get('etag')]).toEqual([200, headers.get('etag')]);
    }
    expect((await trail()).map(({ action }) => action)).toEqual(['account.updated', 'account.created']);
  });

  test('is in the trail, with what was set before and what is now', async () => {
    await patch({ limits: { endpoints: 7, idempotencyKeysPerEndpoint: 8 } });
    await patch({ limits: { endpoints: null } });
    expect((await trail()).map(({ action, diff }) => [action, diff]).slice(0, 2)).toEqual([
      ['account.updated', [{ field: 'limits.endpoints', old: 7, new: null }]],
      [
        'account.updated',
        [
          { field: 'limits.endpoints', old: null, new: 7 },
          { field: 'limits.idempotencyKeysPerEndpoint', old: null, new: 8 },
        ],
      ],
    ]);
  });

  test('with If-Match changes the version that was read, and no other: 412', async () => {
    const made = await bench.call('POST /v2/accounts', { body: { name: 'other' } });
    expect(made.headers.get('etag')).toBe('"1"');
    const tag = (await get()).headers.get('etag') ?? '';
    expect(await patch({ limits: { endpoints: 7 } }, { 'if-match': tag })).toMatchObject({ status: 200 });
    const late = await patch({ limits: { endpoints: 8 } }, { 'if-match': tag });
    expect([late.status, late.headers.get('etag')]).toEqual([412, '"2"']);
    expect((await get()).body.limits.endpoints).toBe(7);
    const deletion = { headers: { 'if-match': tag } };
    expect(await bench.call(`DELETE /v2/accounts/${id}`, deletion)).toMatchObject({ status: 412 });
    expect(await get()).toMatchObject({ status: 200 });
  });

  test.each(Object.entries<AccountLimit>(ACCOUNT_LIMITS))(
    '422 for a bad %s, naming field and bounds; nothing is changed',
    async (name, { maximum, minimum, ...limit }) => {
      const before = await get();
      const bounds = `from ${minimum} to ${maximum}, or null for the default, ${limit.default}`;
      for (const value of [minimum - 1, maximum + 1, minimum + 0.5, -1, '7', true, [7], {}]) {
        const limits = { endpoints: 7, heldCallsPerRouter: 7, [name]: value };
        expect(await patch({ limits })).toMatchObject({
          status: 422,
          body: { errors: [`$.limits.${name}: must be an integer ${bounds}`] },
        });
      }
      const after = await get();
      expect([after.body, after.headers.get('etag')]).toEqual([before.body, before.headers.get('etag')]);
    },
  );

  test('400, 404 and 422 for what is no change of limits', async () => {
    expect(await bench.call(`PATCH /v2/accounts/${id}`, { text: '[]' })).toMatchObject({ status: 400 });
    expect(await bench.call('PATCH /v2/accounts/nope', { body: {} })).toMatchObject({ status: 404 });
    for (const [body, error] of [
      [{ limits: { pods: 1 } }, "$.limits: additional properties 'pods' not allowed"],
      [{ name: 'other' }, "$: additional properties 'name' not allowed"],
      [{ limits: null }, '$.limits: must be an object'],
      [{ limits: [] }, '$.limits: must be an object'],
    ]) {
      expect(await patch(body)).toMatchObject({ status: 422, body: { errors: [error] } });
    }
  });
});

describe('who is no operator', () => {
  test('neither reads nor changes limits, its own or another account’s: 403', async () => {
    const other = await bench.newAccount('other');
    const all = SCOPES.filter((scope) => scope !== 'admin');
    for (const caller of [key, other, await bench.newKey(all, { maker: key })]) {
      expect(await bench.call(`GET /v2/accounts/${id}`, { key: caller })).toMatchObject({ status: 403 });
      const body = { limits: { endpoints: 10_000 } };
      expect(await bench.call(`PATCH /v2/accounts/${id}`, { key: caller, body })).toMatchObject({ status: 403 });
    }
    expect((await get()).body.overriddenLimits).toEqual([]);
  });

  test('hears of an account that is there and of one that is not the same', async () => {
    const texts = await Promise.all(
      [id, 'nobodys'].map(async (account) => {
        const { body, status } = await bench.call(`PATCH /v2/accounts/${account}`, { key, body: {} });
        return JSON.stringify([status, { ...body, instance: '' }]);
      }),
    );
    expect(texts[0]).toEqual(texts[1]);
  });
});

describe('the endpoints of an account', () => {
  test('are no more than its limit: the next is refused, and nothing of it is there', async () => {
    await patch({ limits: { endpoints: 2 } });
    const [first] = [await newEndpoint(), await newEndpoint()];
    for (const request of ['POST /v2/serverless', 'POST /v1/endpoints']) {
      const template = { name: 't', image: 'local/t', serverless: true };
      const { body: made } = await bench.call('POST /v2/templates', { key, body: template });
      const older = { name: 'older', templateId: made.id, cpuFlavorIds: ['cpu3c'] };
      const answer = await bench.call(request, { key, body: request.endsWith('endpoints') ? older : QUEUE_ENDPOINT });
      expect([request, answer.status, answer.headers.get('retry-after')]).toEqual([request, 429, '60']);
      expect(answer.body).toMatchObject({
        type: 'https://api.example.com/docs/problems/limit-reached',
        detail: 'The account may have 2 endpoints (account limit endpoints).',
      });
    }
    expect(each(await bench.call('GET /v2/serverless', { key }), 'endpoints', 'id')).toHaveLength(2);
    expect(await waiting()).toBe(0);
    await bench.call(`DELETE /v2/serverless/${first}`, { key });
    expect((await create()).status).toBe(201);
    expect((await create()).status).toBe(429);
    await patch({ limits: { endpoints: null } });
    expect((await create()).status).toBe(201);
  });

  test('are no more than its limit whoever makes them at once, over two processes', async () => {
    const { stop, url } = await bench.startProcess();
    await patch({ limits: { endpoints: 5 } });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, index) => create(index % 2 === 0 ? {} : { url })));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([...Array<number>(5).fill(201), ...Array<number>(35).fill(429)]);
    expect(each(await bench.call('GET /v2/serverless', { key }), 'endpoints', 'id')).toHaveLength(5);
    await stop();
  });

  test('go with the account, though they are made while it is deleted; nobody waits for another in a circle', async () => {
    const { stop, url } = await bench.startProcess();
    const some = (): Promise<Answer>[] =>
      Array.from({ length: 15 }, (_, index) => create({ isOffContract: true, ...(index % 2 === 0 ? {} : { url }) }));
    const before = some();
    const deletion = bench.call(`DELETE /v2/accounts/${id}`);
    const made = await Promise.all([...before, ...some()]);
    expect((await deletion).status).toBe(204);
    for (const { status } of made) expect([201, 401]).toContain(status);
    const ids = made.flatMap(({ body, status }) => (status === 201 ? [body.id as string] : []));
    for (const endpoint of ids) expect(await bench.endpointSnapshot(endpoint)).toMatchObject({ isDeleted: true });
    await stop();
  });

  test('that are more than a lowered limit stay', async () => {
    const ids = [await newEndpoint(), await newEndpoint()];
    expect(await patch({ limits: { endpoints: 1 } })).toMatchObject({ status: 200 });
    expect(each(await bench.call('GET /v2/serverless', { key }), 'endpoints', 'id')).toEqual(ids);
    const changed = await bench.call(`PATCH /v2/serverless/${ids[1]}`, { key, body: { name: 'changed' } });
    expect(changed.status).toBe(200);
    expect((await create()).status).toBe(429);
  });

  test('of one account take no room from another', async () => {
    await patch({ limits: { endpoints: 1 } });
    await newEndpoint();
    const other = await bench.newAccount('other');
    expect((await create({ key: other })).status).toBe(201);
  });

  test('that were refused may be asked for again under the same Idempotency-Key', async () => {
    await patch({ limits: { endpoints: 1 } });
    const first = await newEndpoint();
    const again = { headers: { 'idempotency-key': 'again' } };
    expect((await create(again)).status).toBe(429);
    await bench.call(`DELETE /v2/serverless/${first}`, { key });
    expect((await create(again)).status).toBe(201);
  });
});

describe('the routers', () => {
  test('know the limits of every endpoint once the change is answered, and of no other account', async () => {
    const [one, two] = [await newEndpoint(), await newEndpoint()];
    const other = (await create({ key: await bench.newAccount('other') })).body.id as string;
    expect([await limitsOf(one), await limitsOf(other)]).toEqual([undefined, undefined]);
    await patch({ limits: { jobsPerEndpoint: 7 } });
    for (const endpoint of [one, two]) expect(await limitsOf(endpoint)).toEqual({ jobsPerEndpoint: 7 });
    expect(await limitsOf(other)).toBeUndefined();
    await patch({ limits: { jobsPerEndpoint: null } });
    for (const endpoint of [one, two]) expect(await limitsOf(endpoint)).toBeUndefined();
    expect(await waiting()).toBe(0);
  });

  test('know them of an endpoint that is made, changed and deleted later', async () => {
    await patch({ limits: { chunkBytesPerAttempt: 1_000_000 } });
    const endpoint = await newEndpoint();
    expect(await limitsOf(endpoint)).toEqual({ chunkBytesPerAttempt: 1_000_000 });
    await bench.call(`PATCH /v2/serverless/${endpoint}`, { key, body: { workers: { max: 9 } } });
    expect(await bench.endpointSnapshot(endpoint)).toMatchObject({
      workersMax: 9,
      limits: { chunkBytesPerAttempt: 1_000_000 },
    });
    await bench.call(`DELETE /v2/serverless/${endpoint}`, { key });
    expect(await bench.endpointSnapshot(endpoint)).toMatchObject({ isDeleted: true });
    expect(await limitsOf(endpoint)).toBeUndefined();
  });

  test('know the last of many changes, also of endpoints that are made at the same time', async () => {
    const { stop, url } = await bench.startProcess();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => [
        create(index % 2 === 0 ? {} : { url }),
        bench.call(`PATCH /v2/accounts/${id}`, { body: { limits: { heldCallsPerRouter: index + 1 } }, url }),
      ]).flat(),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 201]));
    const { heldCallsPerRouter } = (await get()).body.limits;
    const endpoints = each(await bench.call('GET /v2/serverless', { key }), 'endpoints', 'id');
    expect(endpoints).toHaveLength(20);
    for (const endpoint of endpoints) expect(await limitsOf(endpoint)).toEqual({ heldCallsPerRouter });
    await stop();
  });
});
