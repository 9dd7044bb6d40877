import { systemClock } from '@berth/lifecycle';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { bodyFields, withField } from '../access-matrix/body-fields.js';
import { operationsOf, readDocument } from '../access-matrix/operations.js';
import { ROUTES, pathOf, type Route } from '../access-matrix/routes.js';
import { OWNED, Tenant, isOwned, type Resource } from '../access-matrix/tenant.js';
import type { ApiDocument, Operation } from '@berth/http';
import { Database } from '../../src/persistence/database.js';
import { AccountsStore } from '../../src/accounts/accounts.store.js';
import { useManagementApi, type Answer, type CallOptions } from '../management-bench.js';
import { LeakCheck } from './leak-check.js';

const OPEN_TIMEOUT_MS = 240_000;

const LOOKS_LIKE_ID = /(^|\.)(id|\w*Ids?|registry|template|networkVolumes)(\[\])?$/;

/** Ids in bodies that no account has: those of the catalogs. */
const CATALOG_REFERENCES = [
  'cpu[].id',
  'cpuFlavorIds[]',
  'dataCenterId',
  'dataCenterIds[]',
  'gpuTypeIds[]',
  'instanceIds[]',
];

const bench = useManagementApi({ environment: { BERTH_RATE_LIMIT_HOUR: 'off', BERTH_RATE_LIMIT_DAY: 'off' } });

let alpha: Tenant;
let bravo: Tenant;
let check: LeakCheck;
let document: ApiDocument;
let operations: ReadonlyMap<string, Operation>;
let publicTemplateId: string;

beforeAll(async () => {
  alpha = await Tenant.open(bench, 'alpha');
  bravo = await Tenant.open(bench, 'bravo');
  check = new LeakCheck(bravo);
  document = await readDocument(bench.url);
  operations = operationsOf(document);
  const shared = { name: 'shared', image: 'shared/image', env: { A: 'shared' }, serverless: true, public: true };
  const body = { ...shared, registry: bravo.id('registry') };
  publicTemplateId = (await bench.call('POST /v2/templates', { body, key: bravo.key })).body.id as string;
}, OPEN_TIMEOUT_MS);

const asAlpha = (request: string, options: CallOptions = {}): Promise<Answer> =>
  bench.call(request, { key: alpha.key, ...options });

const bodyOf = (route: Route): CallOptions => {
  const body = route.body?.(alpha);
  return body === undefined ? {} : { body };
};

const ownPath = (name: string, { ids = {} }: Route): string =>
  pathOf(name, (parameter) => alpha.id(ids[parameter] as Resource));

const HALF_A_DAY_MS = 12 * 3_600_000;
const instant = (fromNowMs: number): string => new Date(systemClock.nowMs() + fromNowMs).toISOString();
/** Unless it is said, what is told moves with the clock. */
const QUERIES: Readonly<Record<string, string>> = {
  'GET /v2/usage': `?start=${instant(-HALF_A_DAY_MS)}&end=${instant(HALF_A_DAY_MS)}`,
};

/** All that an account can read, as one value. */
async function everythingOf(tenant: Tenant): Promise<object> {
  const seen: Record<string, unknown> = {};
  for (const [name, { ids = {} }] of Object.entries(ROUTES)) {
    if (!name.startsWith('GET ') || name === 'GET /docs/problems/{code}') continue;
    const path = pathOf(name, (parameter) => tenant.id(ids[parameter] as Resource));
    const { body, headers, status } = await bench.call(`${path}${QUERIES[name] ?? ''}`, { key: tenant.key });
    // What is said in a stream has the instant at which it is said.
    const said = typeof body === 'string' ? body.replace(/"ts":"[^"]*"/g, '') : (body as unknown);
    seen[name] = status === 200 ? [said, headers.get('etag')] : status;
  }
  return seen;
}

const routes = Object.entries(ROUTES);

test('the check for leaks knows the account wherever it is read of', async () => {
  const unowned: readonly Route['scope'][] = [null, 'admin', 'catalog:read'];
  for (const [name, { ids = {}, scope }] of routes.filter(([name]) => name.startsWith('GET '))) {
    if (unowned.includes(scope)) continue;
    const path = pathOf(name, (parameter) => bravo.id(ids[parameter] as Resource));
    expect([name, check.leaks(await bench.call(path, { key: bravo.key }))]).not.toEqual([name, []]);
  }
});

describe('an id of another account in the path', () => {
  test.each(routes.filter(([, { ids }]) => ids !== undefined))('of %s leads nowhere', async (name, route) => {
    const { ids = {}, scope } = route;
    if (scope === null) return;
    for (const parameter of Object.keys(ids)) {
      for (const resource of [...OWNED, 'account'] as const) {
        const id = bravo.id(resource);
        const path = pathOf(name, (each) => (each === parameter ? id : alpha.id(ids[each] as Resource)));
        const answer = await asAlpha(path, bodyOf(route));
        expect([resource, answer.status]).toEqual([resource, scope === 'admin' ? 403 : 404]);
        expect(check.leaks(answer, id)).toEqual([]);
      }
    }
  });

  test('of a conditional read is not told from one that nobody has', async () => {
    const { headers } = await bench.call(`GET /v2/serverless/${bravo.id('endpoint')}`, { key: bravo.key });
    const answer = await asAlpha(`GET /v2/serverless/${bravo.id('endpoint')}`, {
      headers: { 'if-none-match': headers.get('etag') ?? '*' },
    });
    expect(answer.status).toBe(404);
  });
});

describe('an id of another account in a body', () => {
  test('can stand nowhere but where the table knows of it', () => {
    for (const [name, { references = {} }] of routes) {
      const paths = bodyFields(document, operations.get(name)).flatMap(({ isText, path }) => (isText ? path : []));
      const found = paths.filter((path) => LOOKS_LIKE_ID.test(path) && !CATALOG_REFERENCES.includes(path));
      expect([name, found.sort()]).toEqual([name, Object.keys(references).sort()]);
    }
  });

  test.each(routes.filter(([, { references }]) => references !== undefined))(
    'of %s is not found',
    async (name, route) => {
      const before = await everythingOf(alpha);
      for (const [path, resource] of Object.entries(route.references ?? {})) {
        const texts = await Promise.all(
          [bravo.id(resource), 'nobodys'].map(async (id) => {
            const body = withField(route.body?.(alpha) ?? {}, path, id);
            const answer = await asAlpha(ownPath(name, route), { body });
            expect([path, answer.status]).toEqual([path, 404]);
            expect(check.leaks(answer, id)).toEqual([]);
            return JSON.stringify({ ...answer.body, instance: '' }).replaceAll(id, '<id>');
          }),
        );
        expect(texts[0]).toBe(texts[1]);
      }
      expect(await everythingOf(alpha)).toEqual(before);
    },
  );

  test('may be that of a public template, which brings nothing along but what is public', async () => {
    const { image: _, env: __, ...rest } = alpha.endpointBody() as { image: string; env: object };
    const made = await asAlpha('POST /v2/serverless', { body: { ...rest, templateId: publicTemplateId } });
    expect(made).toMatchObject({ status: 201, body: { image: 'shared/image', env: { A: 'shared' }, registry: null } });
    for (const request of [`GET /v2/templates/${publicTemplateId}`, 'GET /v2/catalog/templates?source=community']) {
      const answer = await asAlpha(request);
      expect(JSON.stringify(answer.body)).toContain(publicTemplateId);
      expect(check.leaks(answer)).toEqual([]);
    }
    for (const method of ['PATCH', 'DELETE']) {
      const body = method === 'PATCH' ? { body: { name: 'mine' } } : {};
      expect(await asAlpha(`${method} /v2/templates/${publicTemplateId}`, body)).toMatchObject({ status: 404 });
    }
    await asAlpha(`DELETE /v2/serverless/${made.body.id}`);
  });
});

test.each(routes)('a query of %s with an id of another account finds nothing', async (name, route) => {
  const names = (operations.get(name)?.parameters ?? []).filter((parameter) => parameter.in === 'query');
  for (const parameter of names) {
    for (const resource of [...OWNED, 'account'] as const) {
      const id = bravo.id(resource);
      const answer = await asAlpha(`${ownPath(name, route)}?${parameter.name}=${id}`, bodyOf(route));
      expect(check.leaks(answer, id)).toEqual([]);
    }
  }
});

describe('what one account does', () => {
  const change = async (): Promise<void> => {
    for (const [name, route] of routes) {
      if (name.startsWith('GET ') || route.scope === 'admin') continue;
      const { ids = {}, isLast = false } = route;
      const fresh = new Map<string, string>();
      for (const [parameter, resource] of Object.entries(ids)) {
        fresh.set(parameter, isLast && isOwned(resource) ? await bravo.make(resource) : bravo.id(resource));
      }
      const body = route.body?.(bravo);
      const path = pathOf(name, (parameter) => fresh.get(parameter) ?? '');
      const answer = await bench.call(path, { key: bravo.key, ...(body === undefined ? {} : { body }) });
      expect([path, answer.status]).toEqual([path, route.success]);
    }
    for (const resource of OWNED) await bravo.make(resource);
  };

  test('is not seen by another, and shows it nothing', async () => {
    const before = await everythingOf(alpha);
    expect(check.leaks({ body: before, headers: new Headers() })).toEqual([]);
    await change();
    expect(await everythingOf(alpha)).toEqual(before);
  });

  test('is counted for itself alone: the same idempotency key makes one thing in each', async () => {
    const creates = routes.filter(([name]) =>
      (operations.get(name)?.parameters ?? []).some((parameter) => parameter.name === 'Idempotency-Key'),
    );
    expect(creates.length).toBeGreaterThan(0);
    for (const [name, route] of creates) {
      if (route.scope === 'admin') continue;
      const create = (tenant: Tenant): Promise<Answer> =>
        bench.call(
          pathOf(name, (parameter) => tenant.id(route.ids?.[parameter] as Resource)),
          {
            key: tenant.key,
            headers: { 'idempotency-key': 'the-same' },
            ...(route.body === undefined ? {} : { body: route.body(tenant) }),
          },
        );
      const [first, second, replay] = [await create(bravo), await create(alpha), await create(alpha)];
      expect([name, first.status, second.status]).toEqual([name, route.success, route.success]);
      expect(second.body.id).not.toBe(first.body.id);
      expect(second.headers.get('idempotency-replayed')).toBeNull();
      expect(replay.headers.get('idempotency-replayed')).toBe('true');
      expect(replay.body).toEqual(second.body);
    }
  });

  test('does not stop another from using the same names', async () => {
    for (const resource of OWNED.filter((each) => !['cluster', 'pod', 'worker'].includes(each))) {
      expect(await alpha.make(resource)).not.toBe(await alpha.make(resource));
    }
  });
});

describe('an account that is deleted', () => {
  test('is gone with all that it had, and nothing of another is', async () => {
    const before = await everythingOf(alpha);
    const leaving = await Tenant.open(bench, 'leaving');
    const template = { ...leaving.templateBody(), public: true };
    await bench.call('POST /v2/templates', { body: template, key: leaving.key });
    expect(await bench.call(`DELETE /v2/accounts/${leaving.accountId}`)).toMatchObject({ status: 204 });
    expect(await bench.call('GET /v2/serverless', { key: leaving.key })).toMatchObject({ status: 401 });
    expect(await bench.endpointSnapshot(leaving.id('endpoint'))).toMatchObject({ isDeleted: true });
    expect(await bench.apiKeySnapshot(leaving.key.split('_')[1] ?? '')).toBeUndefined();
    expect(await everythingOf(alpha)).toEqual(before);
    expect(await rowsOf(leaving)).not.toEqual({});
    // What the control loops do once the workers are gone.
    await bench.source.query('DELETE FROM workers WHERE endpoint_id = $1', [leaving.id('endpoint')]);
    await bench.source.query('DELETE FROM endpoints WHERE account_id = $1', [leaving.accountId]);
    await new AccountsStore(new Database(bench.source)).forgetDeleted();
    // The trail is kept for ever, and what was used as long as that of anybody.
    expect(Object.keys(await rowsOf(leaving))).toEqual(['audit_entries', 'usage_hours']);
    expect(await everythingOf(alpha)).toEqual(before);
  });

  /** The number of rows in each table that has some of the account. */
  async function rowsOf({ accountId }: Tenant): Promise<Readonly<Record<string, number>>> {
    const tables = await bench.source.query<{ name: string }[]>(
      `SELECT table_name AS name FROM information_schema.columns
        WHERE table_schema = 'public' AND column_name = 'account_id' ORDER BY 1`,
    );
    const counts = await Promise.all(
      tables.map(async ({ name }) => {
        const [row] = await bench.source.query<{ count: string }[]>(
          `SELECT count(*) FROM ${name} WHERE account_id = $1`,
          [accountId],
        );
        return [name, Number(row?.count)] as const;
      }),
    );
    return Object.fromEntries(counts.filter(([, count]) => count > 0));
  }
});
