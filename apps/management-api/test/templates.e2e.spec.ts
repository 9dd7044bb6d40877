import { beforeAll, describe, expect, test } from '@jest/globals';
import { each, failedPaths, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

const TEMPLATE = { name: 'llama', image: 'registry.example.com/llama:1' };
const PROBLEM = 'https://api.example.com/docs/problems/';

const create = (changes: object = {}, key?: string): Promise<Answer> =>
  bench.call('POST /v2/templates', { body: { ...TEMPLATE, ...changes }, ...(key === undefined ? {} : { key }) });

const created = async (changes: object = {}, key?: string): Promise<string> => {
  const answer = await create(changes, key);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id as string;
};

const patch = (id: string, body: object, key?: string): Promise<Answer> =>
  bench.call(`PATCH /v2/templates/${id}`, { body, ...(key === undefined ? {} : { key }) });

const newRegistry = async (key?: string): Promise<string> => {
  const body = { name: 'r', username: 'u', password: 'p' };
  const answer = await bench.call('POST /v2/registries', { body, ...(key === undefined ? {} : { key }) });
  return answer.body.id as string;
};

describe('201', () => {
  test('answers the template with its defaults', async () => {
    const { body, status } = await create();
    expect(status).toBe(201);
    expect(body).toEqual({
      id: expect.stringMatching(/^[a-z0-9]{14}$/),
      ...TEMPLATE,
      args: '',
      mounts: {},
      ports: [],
      env: {},
      registry: null,
      serverless: false,
      public: false,
      category: 'NVIDIA',
      source: 'community',
      startSsh: true,
      startJupyter: true,
      allowedCudaVersions: [],
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    expect(await bench.call(`GET /v2/templates/${body.id}`)).toMatchObject({ status: 200, body });
  });

  test('keeps every field as it came, up to its bounds', async () => {
    const given = {
      name: 'x'.repeat(255),
      image: 'i'.repeat(1_024),
      args: `--prompt 'two words'`,
      disk: 65_536,
      mounts: { persistent: { size: 10, path: '/work space' } },
      ports: ['65535/udp', '1/tcp'],
      env: { constructor: 'a', EMPTY: '', LINES: 'a\nb', ['__proto__']: 'b' },
      registry: await newRegistry(),
      serverless: true,
      public: true,
      category: 'AMD',
      source: 'verified',
      startSsh: false,
      startJupyter: false,
      allowedCudaVersions: ['12.4', '13.0'],
    };
    const { body, status } = await create(given);
    expect(status).toBe(201);
    expect(body).toEqual({ ...given, id: expect.any(String), createdAt: expect.any(String) });
    expect((await bench.call(`GET /v2/templates/${body.id}`)).body).toEqual(body);
  });
});

describe('200', () => {
  test('a list has the templates of the account, oldest first', async () => {
    const key = await bench.newAccount();
    const ids = [await created({}, key), await created({ public: true }, key)];
    expect(each(await bench.call('GET /v2/templates', { key }), 'templates', 'id')).toEqual(ids);
  });

  test('a change replaces what it names and nothing else', async () => {
    const given = { env: { A: '1', B: '2' }, mounts: { persistent: { size: 10, path: '/a' } }, disk: 5 };
    const { body: before } = await create(given);
    const changes = { name: 'new', env: { C: '3' }, mounts: {}, startSsh: false, registry: null };
    const { body, status } = await patch(before.id as string, changes);
    expect(status).toBe(200);
    expect(body).toEqual({ ...before, ...changes });
    expect((await bench.call(`GET /v2/templates/${before.id}`)).body).toEqual(body);
  });

  test('an empty change changes nothing, and is in no trail', async () => {
    const { body: before } = await create();
    expect(await patch(before.id as string, {})).toMatchObject({ status: 200, body: before });
    expect(await patch(before.id as string, { name: before.name })).toMatchObject({ status: 200, body: before });
    expect(await auditOf(before.id as string)).toMatchObject([{ action: 'template.created' }]);
  });

  test('a template that is public is read by other accounts, without its registry', async () => {
    const key = await bench.newAccount();
    const registry = await newRegistry(key);
    const id = await created({ public: true, registry, env: { A: 'seen' } }, key);
    expect(await bench.call(`GET /v2/templates/${id}`)).toMatchObject({
      status: 200,
      body: { id, env: { A: 'seen' }, registry: null },
    });
    expect(await bench.call(`GET /v2/templates/${id}`, { key })).toMatchObject({ body: { registry } });
    const others = await bench.call('GET /v2/templates', { key: await bench.newAccount() });
    expect(others.body).toEqual({ templates: [] });
  });

  test('a template loses a registry that is deleted', async () => {
    const registry = await newRegistry();
    const id = await created({ registry });
    expect(await bench.call(`DELETE /v2/registries/${registry}`)).toMatchObject({ status: 204 });
    expect(await bench.call(`GET /v2/templates/${id}`)).toMatchObject({ body: { registry: null } });
  });
});

const auditOf = async (id: string): Promise<unknown[]> => {
  const { body } = await bench.call(`GET /v2/audit?resourceId=${id}`);
  return body.entries as unknown[];
};

test('204: a deleted template is gone', async () => {
  const id = await created();
  expect(await bench.call(`DELETE /v2/templates/${id}`)).toMatchObject({ status: 204, body: null });
  expect(await bench.call(`GET /v2/templates/${id}`)).toMatchObject({ status: 404 });
  expect(await bench.call(`DELETE /v2/templates/${id}`)).toMatchObject({ status: 404 });
});

test('every change is in the audit trail, secrets masked', async () => {
  const id = await created({ env: { HF_TOKEN: 'hunter2' } });
  await patch(id, { env: { HF_TOKEN: 'hunter3' }, mounts: { persistent: { size: 20, path: '/a' } } });
  await bench.call(`DELETE /v2/templates/${id}`);
  const entries = await auditOf(id);
  expect(entries).toMatchObject([
    { action: 'template.deleted' },
    {
      action: 'template.updated',
      diff: [
        { field: 'env.HF_TOKEN', old: '***', new: '***' },
        { field: 'mounts.persistent.path', old: null, new: '/a' },
        { field: 'mounts.persistent.size', old: null, new: 20 },
      ],
    },
    { action: 'template.created' },
  ]);
  expect(JSON.stringify(entries)).not.toContain('hunter');
});

describe('400', () => {
  test.each([
    ['malformed JSON', '{'],
    ['an empty body', ''],
    ['an array', '[]'],
  ])('for %s', async (_, text) => {
    const id = await created();
    for (const request of ['POST /v2/templates', `PATCH /v2/templates/${id}`]) {
      expect(await bench.call(request, { text })).toMatchObject({
        status: 400,
        body: { type: `${PROBLEM}body-not-json` },
      });
    }
  });
});

describe('401 and 403', () => {
  test('without a key, and with one that lacks the scope', async () => {
    const id = await created();
    const requests = {
      'templates:read': ['GET /v2/templates', `GET /v2/templates/${id}`],
      'templates:write': ['POST /v2/templates', `PATCH /v2/templates/${id}`, `DELETE /v2/templates/${id}`],
    };
    for (const [scope, paths] of Object.entries(requests)) {
      const key = await bench.keyWithout(scope);
      for (const path of paths) {
        const body = /^(POST|PATCH)/.test(path) ? TEMPLATE : undefined;
        expect(await bench.call(path, { key: null, body })).toMatchObject({ status: 401 });
        expect(await bench.call(path, { key, body })).toMatchObject({ status: 403 });
      }
    }
  });

  test('only the operator vouches for a template', async () => {
    const key = await bench.newAccount();
    const id = await created({ source: 'community' }, key);
    for (const source of ['official', 'verified']) {
      expect(await create({ source }, key)).toMatchObject({ status: 403, body: { type: `${PROBLEM}scope-missing` } });
      expect(await patch(id, { source }, key)).toMatchObject({ status: 403 });
      expect(await create({ source })).toMatchObject({ status: 201, body: { source } });
    }
    expect(await bench.call(`GET /v2/templates/${id}`, { key })).toMatchObject({ body: { source: 'community' } });
  });

  test('a key without admin leaves said what the operator said', async () => {
    const key = await bench.keyWithout('admin');
    const id = await created({ source: 'official' });
    expect(await patch(id, { source: 'official', name: 'new' }, key)).toMatchObject({ status: 200 });
    expect(await patch(id, { source: 'verified' }, key)).toMatchObject({ status: 403 });
    expect(await patch(id, { source: 'community' }, key)).toMatchObject({ body: { source: 'community' } });
  });
});

describe('404', () => {
  let foreign: string;
  let shared: string;

  beforeAll(async () => {
    const key = await bench.newAccount();
    foreign = await created({}, key);
    shared = await created({ public: true }, key);
  });

  test('a foreign template answers like one that does not exist', async () => {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? {} : undefined;
      const [unknown, other] = await Promise.all(
        ['nope', foreign].map((id) => bench.call(`${method} /v2/templates/${id}`, { body })),
      );
      expect(other).toMatchObject({ status: 404, body: { type: `${PROBLEM}template-not-found` } });
      expect(other?.body.detail).toBe(unknown?.body.detail);
    }
  });

  test('a foreign public template is read only', async () => {
    expect(await patch(shared, { name: 'mine' })).toMatchObject({ status: 404 });
    expect(await bench.call(`DELETE /v2/templates/${shared}`)).toMatchObject({ status: 404 });
    expect(await bench.call(`GET /v2/templates/${shared}`)).toMatchObject({ body: { name: TEMPLATE.name } });
  });

  test('a registry has to be the account’s own', async () => {
    const registry = await newRegistry(await bench.newAccount());
    const id = await created();
    for (const wrong of ['nope', registry]) {
      const refused = { status: 404, body: { type: `${PROBLEM}registry-not-found` } };
      expect(await create({ registry: wrong })).toMatchObject(refused);
      expect(await patch(id, { registry: wrong })).toMatchObject(refused);
    }
    expect(each(await bench.call('GET /v2/templates'), 'templates', 'registry')).not.toContain(registry);
  });

  test('a public template goes with its account', async () => {
    const { body } = await bench.call('POST /v2/accounts', { body: { name: 'leaving' } });
    const id = await created({ public: true }, body.apiKey.key as string);
    await bench.call(`DELETE /v2/accounts/${body.id}`);
    expect(await bench.call(`GET /v2/templates/${id}`)).toMatchObject({ status: 404 });
  });
});

test('405: nothing else can be done with a template', async () => {
  const answer = await bench.call('PUT /v2/templates/x', { body: TEMPLATE });
  expect(answer.status).toBe(405);
  expect(answer.headers.get('allow')).toMatch(/GET.*PATCH|PATCH.*GET/);
});

describe('413 and 415', () => {
  test('for a body that is too large, and for one that is no JSON', async () => {
    expect(await create({ args: 'x'.repeat(1_100_000) })).toMatchObject({ status: 413 });
    const text = 'name=a';
    expect(await bench.call('POST /v2/templates', { text, contentType: 'text/plain' })).toMatchObject({ status: 415 });
  });
});

describe('422', () => {
  test('names every field that is wrong in one answer', async () => {
    const { body, status } = await bench.call('POST /v2/templates', { body: { name: ' ', disk: 0, bogus: 1 } });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      "$: additional properties 'bogus' not allowed",
      '$.name: must not be blank',
      '$.image: is required',
      '$.disk: must not be less than 1',
    ]);
  });

  test.each<[string, object]>([
    ['$.name', { name: '' }],
    ['$.name', { name: 'x'.repeat(256) }],
    ['$.name', { name: 'a\u0007' }],
    ['$.name', { name: null }],
    ['$.image', { image: '' }],
    ['$.image', { image: 'i'.repeat(1_025) }],
    ['$.image', { image: 'a b' }],
    ['$.args', { args: "it's" }],
    ['$.disk', { disk: 65_537 }],
    ['$.disk', { disk: 1.5 }],
    ['$.mounts', { mounts: null }],
    ['$.mounts', { mounts: { network: [] } }],
    ['$.mounts.persistent.size', { mounts: { persistent: { size: 9, path: '/a' } } }],
    ['$.mounts.persistent.size', { mounts: { persistent: { size: 65_537, path: '/a' } } }],
    ['$.mounts.persistent.path', { mounts: { persistent: { size: 10, path: 'a' } } }],
    ['$.mounts.persistent.path', { mounts: { persistent: { size: 10, path: '/a\nb' } } }],
    ['$.mounts.persistent.size', { mounts: { persistent: { path: '/a' } } }],
    ['$.env', { env: { '1A': 'x' } }],
    ['$.env', { env: { A: 'x'.repeat(65_536) } }],
    ['$.env', { env: Object.fromEntries(Array.from({ length: 201 }, (_, i) => [`A${i}`, ''])) }],
    ['$.ports', { ports: ['65536/http'] }],
    ['$.ports', { ports: ['80/http', '80/http'] }],
    ['$.registry', { registry: '' }],
    ['$.serverless', { serverless: 'true' }],
    ['$.public', { public: null }],
    ['$.category', { category: 'TPU' }],
    ['$.source', { source: 'mine' }],
    ['$.startSsh', { startSsh: 1 }],
    ['$.startJupyter', { startJupyter: 0 }],
    ['$.allowedCudaVersions', { allowedCudaVersions: ['12'] }],
    ['$', { id: 'mine' }],
  ])('for a bad %s (%#)', async (path, changes) => {
    const id = await created();
    for (const answer of [await create(changes), await patch(id, changes)]) {
      expect(answer.status).toBe(422);
      expect(failedPaths(answer)).toContain(path);
    }
  });
});
