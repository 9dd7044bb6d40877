import { beforeAll, describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, each, failedPaths, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

const VOLUME = { name: 'models', size: 100, dataCenter: 'LOCAL-1' };
const PROBLEM = 'https://api.example.com/docs/problems/';

const create = (changes: object = {}, key?: string): Promise<Answer> =>
  bench.call('POST /v2/network-volumes', { body: { ...VOLUME, ...changes }, ...(key === undefined ? {} : { key }) });

const created = async (key?: string): Promise<string> => (await create({}, key)).body.id as string;

const patch = (id: string, body: object): Promise<Answer> => bench.call(`PATCH /v2/network-volumes/${id}`, { body });

describe('201', () => {
  test('answers the volume with its defaults', async () => {
    const { body, status } = await create();
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[a-z0-9]{14}$/),
      ...VOLUME,
      type: 'STANDARD',
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(await bench.call(`GET /v2/network-volumes/${body.id}`)).toMatchObject({ status: 200, body });
  });

  test.each([
    { size: 10, name: 'x' },
    { size: 4_096, name: 'x'.repeat(255), dataCenter: 'x'.repeat(255), type: 'HIGH_PERFORMANCE' },
  ])('keeps every field as it came, up to its bounds', async (given) => {
    expect(await create(given)).toMatchObject({ status: 201, body: { ...VOLUME, ...given } });
  });
});

describe('200', () => {
  test('a list has the volumes of the account, oldest first', async () => {
    const key = await bench.newAccount();
    const ids = [await created(key), await created(key)];
    expect(each(await bench.call('GET /v2/network-volumes', { key }), 'networkVolumes', 'id')).toEqual(ids);
  });

  test('a volume is renamed and enlarged', async () => {
    const { body: before } = await create();
    const id = before.id as string;
    for (const changes of [{ name: 'new' }, { size: 101 }, { name: 'newer', size: 4_096 }, { size: 4_096 }]) {
      expect(await patch(id, changes)).toMatchObject({ status: 200, body: changes });
    }
    expect((await bench.call(`GET /v2/network-volumes/${id}`)).body).toEqual({ ...before, name: 'newer', size: 4_096 });
    const { body } = await bench.call(`GET /v2/audit?resourceId=${id}`);
    expect(body.entries).toHaveLength(4);
    expect(body.entries[0]).toMatchObject({
      action: 'network-volume.updated',
      diff: [
        { field: 'name', old: 'new', new: 'newer' },
        { field: 'size', old: 101, new: 4_096 },
      ],
    });
  });
});

test('204: a deleted volume is gone', async () => {
  const id = await created();
  expect(await bench.call(`DELETE /v2/network-volumes/${id}`)).toMatchObject({ status: 204, body: null });
  expect(await bench.call(`GET /v2/network-volumes/${id}`)).toMatchObject({ status: 404 });
  expect(await bench.call(`DELETE /v2/network-volumes/${id}`)).toMatchObject({ status: 404 });
});

describe('400', () => {
  test.each([
    ['malformed JSON', '{'],
    ['an empty body', ''],
    ['an array', '[]'],
  ])('for %s', async (_, text) => {
    for (const request of ['POST /v2/network-volumes', `PATCH /v2/network-volumes/${await created()}`]) {
      expect(await bench.call(request, { text })).toMatchObject({
        status: 400,
        body: { type: `${PROBLEM}body-not-json` },
      });
    }
  });

  test('for a volume that would shrink', async () => {
    const id = await created();
    const answer = await patch(id, { name: 'new', size: 99 });
    expect(answer).toMatchObject({ status: 400, body: { type: `${PROBLEM}rule-conflict` } });
    expect(failedPaths(answer)).toEqual(['$.size']);
    expect(await bench.call(`GET /v2/network-volumes/${id}`)).toMatchObject({ body: VOLUME });
  });

  test('while an endpoint uses it, naming it', async () => {
    const key = await bench.newAccount();
    const id = await created(key);
    const body = { ...QUEUE_ENDPOINT, networkVolumes: [id] };
    const { body: endpoint } = await bench.call('POST /v2/serverless', { key, body });
    expect(await bench.call(`DELETE /v2/network-volumes/${id}`, { key })).toMatchObject({
      status: 400,
      body: {
        type: `${PROBLEM}network-volume-in-use`,
        detail: `Network volume ${id} is used by endpoint ${endpoint.id}.`,
      },
    });
    await bench.call(`DELETE /v2/serverless/${endpoint.id}`, { key });
    expect(await bench.call(`DELETE /v2/network-volumes/${id}`, { key })).toMatchObject({ status: 204 });
  });

  test('or 204, but never an endpoint that was made of a volume which is gone', async () => {
    const key = await bench.newAccount();
    for (let round = 0; round < 8; round += 1) {
      const id = await created(key);
      const [made, deleted] = await Promise.all([
        bench.call('POST /v2/serverless', { key, body: { ...QUEUE_ENDPOINT, networkVolumes: [id] } }),
        bench.call(`DELETE /v2/network-volumes/${id}`, { key }),
      ]);
      expect([
        [201, 400],
        [404, 204],
      ]).toContainEqual([made.status, deleted.status]);
    }
  });
});

test('401 and 403: without a key, and with one that lacks the scope', async () => {
  const id = await created();
  const requests = {
    'volumes:read': ['GET /v2/network-volumes', `GET /v2/network-volumes/${id}`],
    'volumes:write': [
      'POST /v2/network-volumes',
      `PATCH /v2/network-volumes/${id}`,
      `DELETE /v2/network-volumes/${id}`,
    ],
  };
  for (const [scope, paths] of Object.entries(requests)) {
    const key = await bench.keyWithout(scope);
    for (const path of paths) {
      const body = /^(POST|PATCH)/.test(path) ? VOLUME : undefined;
      expect(await bench.call(path, { key: null, body })).toMatchObject({ status: 401 });
      expect(await bench.call(path, { key, body })).toMatchObject({ status: 403 });
    }
  }
});

describe('404', () => {
  let foreign: string;

  beforeAll(async () => {
    foreign = await created(await bench.newAccount());
  });

  test.each(['GET', 'PATCH', 'DELETE'])(
    '%s of a foreign volume answers like one that does not exist',
    async (method) => {
      const body = method === 'PATCH' ? { name: 'mine' } : undefined;
      const unknown = await bench.call(`${method} /v2/network-volumes/nope`, { body });
      const other = await bench.call(`${method} /v2/network-volumes/${foreign}`, { body });
      expect(other).toMatchObject({ status: 404, body: { type: `${PROBLEM}network-volume-not-found` } });
      expect(other.body.detail).toBe(unknown.body.detail);
    },
  );

  test('a list has none of another account', async () => {
    expect(each(await bench.call('GET /v2/network-volumes'), 'networkVolumes', 'id')).not.toContain(foreign);
  });
});

test('405: nothing else can be done with a volume', async () => {
  const answer = await bench.call('PUT /v2/network-volumes/x', { body: VOLUME });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toContain('PATCH');
});

describe('413 and 415', () => {
  test('for a body that is too large, and for one that is no JSON', async () => {
    expect(await create({ name: 'x'.repeat(1_100_000) })).toMatchObject({ status: 413 });
    const call = { text: 'name=a', contentType: 'text/plain' };
    expect(await bench.call('POST /v2/network-volumes', call)).toMatchObject({ status: 415 });
  });
});

describe('422', () => {
  test('names every field that is wrong in one answer', async () => {
    const { body, status } = await bench.call('POST /v2/network-volumes', { body: { name: ' ', size: 9, bogus: 1 } });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      "$: additional properties 'bogus' not allowed",
      '$.name: must not be blank',
      '$.size: must not be less than 10',
      '$.dataCenter: is required',
    ]);
  });

  test.each<[string, object]>([
    ['$.name', { name: '' }],
    ['$.name', { name: 'x'.repeat(256) }],
    ['$.name', { name: null }],
    ['$.size', { size: 9 }],
    ['$.size', { size: 4_097 }],
    ['$.size', { size: 10.5 }],
    ['$.size', { size: '10' }],
  ])('for a bad %s (%#)', async (path, changes) => {
    for (const answer of [await create(changes), await patch(await created(), changes)]) {
      expect(answer.status).toBe(422);
      expect(failedPaths(answer)).toContain(path);
    }
  });

  test.each<[string, object]>([
    ['$.dataCenter', { dataCenter: '' }],
    ['$.dataCenter', { dataCenter: 'x'.repeat(256) }],
    ['$.dataCenter', { dataCenter: null }],
    ['$.type', { type: 'FAST' }],
    ['$.type', { type: null }],
    ['$', { id: 'mine' }],
  ])('for a bad %s of a new volume (%#)', async (path, changes) => {
    const answer = await create(changes);
    expect(answer.status).toBe(422);
    expect(failedPaths(answer)).toContain(path);
  });

  test.each([{}, { type: 'STANDARD' }, { dataCenter: 'LOCAL-2' }])('for the change %j', async (changes) => {
    const answer = await patch(await created(), changes);
    expect(answer.status).toBe(422);
    expect(failedPaths(answer)).toEqual(['$']);
  });
});

test('429 beyond what all volumes of the account may have, whether one is made or grows', async () => {
  const made = await bench.call('POST /v2/accounts', { body: { name: 'tenant' } });
  const key = made.body.apiKey.key as string;
  await bench.call(`PATCH /v2/accounts/${made.body.id}`, { body: { limits: { volumeGb: 150 } } });
  const id = await created(key);
  const detail = 'The network volumes of the account may have 150 GB (account limit volumeGb).';
  const refused = { status: 429, body: { type: `${PROBLEM}limit-reached`, detail } };
  expect(await create({ size: 51 }, key)).toMatchObject(refused);
  expect(await create({ size: 50 }, key)).toMatchObject({ status: 201 });
  const grow = (body: object) => bench.call(`PATCH /v2/network-volumes/${id}`, { key, body });
  expect(await grow({ size: 101 })).toMatchObject(refused);
  expect(await grow({ name: 'other' })).toMatchObject({ status: 200, body: { size: 100 } });
  expect(each(await bench.call('GET /v2/network-volumes', { key }), 'networkVolumes', 'size')).toEqual([100, 50]);
});
