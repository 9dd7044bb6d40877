import { beforeAll, describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, each, failedPaths, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

const USERNAME = 'sailor-of-the-registry';
const PASSWORD = 'correct horse battery staple';
const REGISTRY = { name: 'team', username: USERNAME, password: PASSWORD };
const PROBLEM = 'https://api.example.com/docs/problems/';

const create = (changes: object = {}, key?: string): Promise<Answer> =>
  bench.call('POST /v2/registries', { body: { ...REGISTRY, ...changes }, ...(key === undefined ? {} : { key }) });

const created = async (key?: string): Promise<string> => (await create({}, key)).body.id as string;

/** Every row of every table, as text. */
const dump = async (): Promise<string> => {
  const tables = await bench.source.query<{ name: string }[]>(
    `SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace`,
  );
  const rows = await Promise.all(
    tables.map(({ name }) =>
      bench.source.query<{ text: string }[]>(`SELECT row_to_json(t)::text AS text FROM "${name}" t`),
    ),
  );
  return rows
    .flat()
    .map(({ text }) => text)
    .join('\n');
};

test('201: answers id and name, and nothing of the credentials', async () => {
  const { body, status } = await create();
  expect({ status, body }).toEqual({
    status: 201,
    body: { id: expect.stringMatching(/^[a-z0-9]{14}$/), name: 'team' },
  });
});

describe('200', () => {
  test('a list has the registries of the account, oldest first', async () => {
    const key = await bench.newAccount();
    const ids = [await created(key), await created(key)];
    const { body, status } = await bench.call('GET /v2/registries', { key });
    expect(status).toBe(200);
    expect(body).toEqual({ registries: ids.map((id) => ({ id, name: 'team' })) });
  });

  test('one is read', async () => {
    const id = await created();
    expect(await bench.call(`GET /v2/registries/${id}`)).toMatchObject({ status: 200, body: { id, name: 'team' } });
  });
});

test('204: a deleted registry is gone', async () => {
  const id = await created();
  expect(await bench.call(`DELETE /v2/registries/${id}`)).toMatchObject({ status: 204, body: null });
  expect(await bench.call(`GET /v2/registries/${id}`)).toMatchObject({ status: 404 });
  expect(await bench.call(`DELETE /v2/registries/${id}`)).toMatchObject({ status: 404 });
});

test('user name and password are nowhere in clear: not in answers, rows, the audit trail or what a failure says', async () => {
  const again = { body: REGISTRY, headers: { 'idempotency-key': 'once' } };
  const replayed = [await bench.call('POST /v2/registries', again), await bench.call('POST /v2/registries', again)];
  expect(replayed[1]).toMatchObject({ status: 201, body: replayed[0]?.body });
  const answers = [...replayed, await create({ password: `${PASSWORD}\0` }), await create({ username: 1 })];
  const id = answers[0]?.body.id as string;
  answers.push(await bench.call(`GET /v2/registries/${id}`), await bench.call('GET /v2/registries'));
  answers.push(await bench.call(`GET /v2/audit?resourceId=${id}`));
  const seen = JSON.stringify(answers.map(({ body }) => body as unknown)) + (await dump());
  expect(seen).toContain(id);
  expect(seen).not.toContain(USERNAME);
  expect(seen).not.toContain(PASSWORD);
});

test('the database takes sealed credentials only', async () => {
  const insert = bench.source.query(
    `INSERT INTO registries (id, account_id, name, sealed_credentials) VALUES ('r', 'default', 'r', $1)`,
    [JSON.stringify({ username: USERNAME, password: PASSWORD })],
  );
  await expect(insert).rejects.toThrow('registries_sealed_credentials_check');
});

describe('400', () => {
  test.each([
    ['malformed JSON', '{'],
    ['an empty body', ''],
    ['an array', '[]'],
  ])('for %s', async (_, text) => {
    expect(await bench.call('POST /v2/registries', { text })).toMatchObject({
      status: 400,
      body: { type: `${PROBLEM}body-not-json` },
    });
  });

  test('while an endpoint uses it, naming ten at most', async () => {
    const key = await bench.newAccount();
    const registry = await created(key);
    const ids: string[] = [];
    for (let count = 0; count < 11; count += 1) {
      const { body } = await bench.call('POST /v2/serverless', { key, body: { ...QUEUE_ENDPOINT, registry } });
      ids.push(body.id as string);
    }
    const refused = await bench.call(`DELETE /v2/registries/${registry}`, { key });
    expect(refused).toMatchObject({ status: 400, body: { type: `${PROBLEM}registry-in-use` } });
    expect(ids.filter((id) => (refused.body.detail as string).includes(`endpoint ${id}`))).toHaveLength(10);
    expect(refused.body.detail).toMatch(/ and others\.$/);

    for (const id of ids) await bench.call(`DELETE /v2/serverless/${id}`, { key });
    expect(await bench.call(`DELETE /v2/registries/${registry}`, { key })).toMatchObject({ status: 204 });
  });

  test('or 204, but never an endpoint that was made of a registry which is gone', async () => {
    const key = await bench.newAccount();
    for (let round = 0; round < 8; round += 1) {
      const registry = await created(key);
      const [made, deleted] = await Promise.all([
        bench.call('POST /v2/serverless', { key, body: { ...QUEUE_ENDPOINT, registry } }),
        bench.call(`DELETE /v2/registries/${registry}`, { key }),
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
    'registries:read': ['GET /v2/registries', `GET /v2/registries/${id}`],
    'registries:write': ['POST /v2/registries', `DELETE /v2/registries/${id}`],
  };
  for (const [scope, paths] of Object.entries(requests)) {
    const key = await bench.keyWithout(scope);
    for (const path of paths) {
      const body = path.startsWith('POST') ? REGISTRY : undefined;
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

  test.each(['GET', 'DELETE'])('%s of a foreign registry answers like one that does not exist', async (method) => {
    const unknown = await bench.call(`${method} /v2/registries/nope`);
    const other = await bench.call(`${method} /v2/registries/${foreign}`);
    expect(other).toMatchObject({ status: 404, body: { type: `${PROBLEM}registry-not-found` } });
    expect(other.body.detail).toBe(unknown.body.detail);
  });

  test('a list has none of another account', async () => {
    expect(each(await bench.call('GET /v2/registries'), 'registries', 'id')).not.toContain(foreign);
  });
});

test('405: a registry is not changed', async () => {
  const answer = await bench.call(`PATCH /v2/registries/${await created()}`, { body: { name: 'new' } });
  expect(answer).toMatchObject({ status: 405, body: { type: `${PROBLEM}method-not-allowed` } });
  expect(answer.headers.get('allow')?.split(', ').sort()).toEqual(expect.arrayContaining(['DELETE', 'GET']));
  expect(answer.headers.get('allow')).not.toContain('PATCH');
});

describe('413 and 415', () => {
  test('for a body that is too large, and for one that is no JSON', async () => {
    expect(await create({ name: 'x'.repeat(1_100_000) })).toMatchObject({ status: 413 });
    const text = 'name=a';
    expect(await bench.call('POST /v2/registries', { text, contentType: 'text/plain' })).toMatchObject({ status: 415 });
  });
});

describe('422', () => {
  test('names every field that is wrong in one answer', async () => {
    const { body, status } = await bench.call('POST /v2/registries', { body: { name: '', bogus: 1 } });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      "$: additional properties 'bogus' not allowed",
      '$.name: must be longer than or equal to 1 characters',
      '$.username: is required',
      '$.password: is required',
    ]);
  });

  test.each<[string, object]>([
    ['$.name', { name: 'x'.repeat(256) }],
    ['$.name', { name: 'a\u0007' }],
    ['$.name', { name: null }],
    ['$.username', { username: '' }],
    ['$.username', { username: 'x'.repeat(1_025) }],
    ['$.username', { username: 1 }],
    ['$.password', { password: '' }],
    ['$.password', { password: 'x'.repeat(16_385) }],
    ['$.password', { password: '\ud800' }],
    ['$.password', { password: null }],
    ['$', { url: 'registry.example.com' }],
  ])('for a bad %s (%#)', async (path, changes) => {
    const answer = await create(changes);
    expect(answer.status).toBe(422);
    expect(failedPaths(answer)).toContain(path);
  });

  test('not for the longest that is allowed', async () => {
    const longest = { name: 'x'.repeat(255), username: 'x'.repeat(1_024), password: 'x'.repeat(16_384) };
    expect(await create(longest)).toMatchObject({ status: 201 });
  });
});
