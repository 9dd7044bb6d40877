import type { Scope } from '@berth/domain';
import { inParallel } from '@berth/lifecycle';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Operation } from '@berth/http';
import { each, useManagementApi, type Answer } from '../management-bench.js';
import { callersOf, type Caller } from './callers.js';
import { handledRoutes } from './handlers.js';
import { operationsOf, readDocument } from './operations.js';
import { ROUTES, pathOf, type Route } from './routes.js';
import { StatementWatch } from './statement-watch.js';
import { Tenant, absentId, isOwned, type Resource } from './tenant.js';

/** Whose the ids in the path are. */
type Whose = 'own' | 'foreign' | 'absent';

const IN_PARALLEL = 4;
const OPEN_TIMEOUT_MS = 240_000;
const unlimited = { BERTH_RATE_LIMIT_HOUR: 'off', BERTH_RATE_LIMIT_DAY: 'off' };

const bench = useManagementApi({ environment: unlimited });
const watch = new StatementWatch();

let own: Tenant;
let foreign: Tenant;
let callers: readonly Caller[];

beforeAll(async () => {
  own = await Tenant.openOperators(bench, 'alpha');
  foreign = await Tenant.open(bench, 'bravo');
  callers = await callersOf(bench, own);
  watch.start();
}, OPEN_TIMEOUT_MS);

afterAll(() => {
  watch.stop();
});

const resourcesOf = ({ ids = {} }: Route): readonly Resource[] => Object.values(ids);

function columnsOf(route: Route): readonly Whose[] {
  if (route.ids === undefined) return ['own'];
  return resourcesOf(route).some(isOwned) ? ['own', 'foreign', 'absent'] : ['own', 'absent'];
}

function expected(route: Route, caller: Caller, whose: Whose): number {
  const ofWhose = whose === 'own' ? route.success : 404;
  if (route.scope === null) return ofWhose;
  if (!caller.isKnown) return 401;
  if (!caller.scopes.includes(route.scope)) return 403;
  if (whose !== 'own' || caller.reach === 'all') return ofWhose;
  const isElsewhere = caller.reach === 'elsewhere' && resourcesOf(route).includes('endpoint');
  return isElsewhere || route.isClosedToLimited === true ? 403 : ofWhose;
}

/** Each way to put ids that are not the caller's into the path. */
async function pathsOf(name: string, route: Route, whose: Whose): Promise<readonly string[]> {
  const { ids = {}, isLast = false } = route;
  const parameters = Object.keys(ids);
  const ownIds = new Map<string, string>();
  for (const parameter of parameters) {
    const resource = ids[parameter] as Resource;
    ownIds.set(parameter, isLast && whose === 'own' ? await own.make(resource) : own.id(resource));
  }
  if (whose === 'own') return [pathOf(name, (parameter) => ownIds.get(parameter) ?? '')];
  const replaced = parameters.length > 1 ? [...parameters.map((parameter) => [parameter]), parameters] : [parameters];
  return replaced.map((others) =>
    pathOf(name, (parameter) => {
      if (!others.includes(parameter)) return ownIds.get(parameter) ?? '';
      return whose === 'absent' ? absentId() : foreign.id(ids[parameter] as Resource);
    }),
  );
}

async function ask(name: string, route: Route, { caller, whose }: { caller: Caller; whose: Whose }): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const path of await pathsOf(name, route, whose)) {
    const body = route.body?.(own);
    const key = whose === 'own' ? await keyFor(path, route, caller) : caller.key;
    answers.push(await bench.call(path, { key, ...(body === undefined ? {} : { body }) }));
  }
  return answers;
}

/** Where each call ends an endpoint, the key that is limited to it is a new one as well. */
async function keyFor(path: string, route: Route, { key, reach, scopes }: Caller): Promise<string | null> {
  const isNew = route.isLast === true && reach === 'it' && resourcesOf(route).includes('endpoint');
  return isNew ? bench.newKey(scopes, { maker: own.key, endpointIds: idsIn(path).slice(0, 1) }) : key;
}

const idsIn = (path: string): string[] => path.split('/').filter((part) => /^[a-z0-9]{14}$/.test(part));

describe('the table', () => {
  let documented: ReadonlyMap<string, Operation>;

  beforeAll(async () => {
    documented = operationsOf(await readDocument(bench.url));
  });

  test('has a row for every operation of the document and every handler, and no other', () => {
    expect(Object.keys(ROUTES).sort()).toEqual(handledRoutes());
    expect([...documented.keys()].sort()).toEqual(handledRoutes());
  });

  test('says of scopes what the document says', () => {
    const scopes = [...documented].map(([name, { security = [] }]) => [name, security[0]?.['apiKey']?.[0] ?? null]);
    expect(Object.fromEntries(scopes)).toEqual(
      Object.fromEntries(Object.entries(ROUTES).map(([name, { scope }]) => [name, scope])),
    );
  });

  test('says of every id in a path what it is of', () => {
    for (const [name, { ids = {} }] of Object.entries(ROUTES)) {
      expect([name, [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter)]).toEqual([
        name,
        Object.keys(ids),
      ]);
    }
  });
});

describe.each(Object.entries(ROUTES))('%s', (name, route) => {
  test('answers every kind of caller as the table says', async () => {
    const rows = await inParallel(callers, IN_PARALLEL, async (caller) => {
      const seen: Record<string, readonly number[]> = {};
      const wanted: Record<string, readonly number[]> = {};
      for (const whose of columnsOf(route)) {
        const answers = await ask(name, route, { caller, whose });
        seen[whose] = answers.map(({ status }) => status);
        wanted[whose] = answers.map(() => expected(route, caller, whose));
      }
      return { caller: caller.name, seen, wanted };
    });
    const table = (which: 'seen' | 'wanted') => rows.map((row) => ({ caller: row.caller, ...row[which] }));
    expect(table('seen')).toEqual(table('wanted'));
  });
});

const ownedRoutes = Object.entries(ROUTES).filter(([, route]) => resourcesOf(route).some(isOwned));
const everything = (): Caller => callers.find((caller) => caller.name === 'every scope') as Caller;

/** All that a client sees of a problem, but for the ids that it sent and the one that names the request. */
function visible({ body, headers, status }: Answer, path: string): object {
  const text = JSON.stringify({ ...body, instance: '' });
  const rest = [...headers].filter(([header]) => header !== 'date' && header !== 'x-request-id');
  return { status, rest, text: idsIn(path).reduce((all, id) => all.replaceAll(id, '<id>'), text) };
}

describe('an id of another account', () => {
  const observe = async (name: string, route: Route, whose: Whose): Promise<readonly object[]> => {
    const body = route.body?.(own);
    const paths = await pathsOf(name, route, whose);
    return inParallel(paths, 1, async (path) => {
      let seen = {};
      const statements = await watch.during(idsIn(path).at(-1) ?? '', async () => {
        const options = { key: everything().key, ...(body === undefined ? {} : { body }) };
        seen = visible(await bench.call(path, options), path);
      });
      expect(statements).not.toEqual([]);
      return { ...seen, statements };
    });
  };

  test.each(ownedRoutes)('%s is answered byte by byte as if nobody had it, by the same statements', async (...row) => {
    expect(await observe(...row, 'foreign')).toEqual(await observe(...row, 'absent'));
  });

  test('is none the worse for it: everything of that account is still there', async () => {
    const reads = ownedRoutes.filter(([name]) => name.startsWith('GET '));
    for (const [name, { ids = {} }] of reads) {
      const path = pathOf(name, (parameter) => foreign.id(ids[parameter] as Resource));
      expect([name, (await bench.call(path, { key: foreign.key })).status]).toEqual([name, 200]);
    }
    expect(each(await bench.call('GET /v2/api-keys', { key: foreign.key }), 'apiKeys', 'id')).toContain(
      foreign.id('api key'),
    );
  });
});

test.each(Object.entries(ROUTES).filter(([name]) => name.startsWith('GET ')))(
  '%s is answered to HEAD alike, without a body',
  async (name, { ids = {}, scope }) => {
    const path = pathOf(name, (parameter) => own.id(ids[parameter] as Resource)).replace('GET', 'HEAD');
    expect(await bench.call(path, { key: everything().key })).toMatchObject({ status: 200, body: null });
    expect((await bench.call(path, { key: null })).status).toBe(scope === null ? 200 : 401);
  },
);

describe('a key limited to some endpoints', () => {
  let account: Tenant;
  let endpointId: string;

  beforeAll(async () => {
    account = await Tenant.open(bench, 'charlie');
    endpointId = await account.make('endpoint');
  });

  const limited = (scopes: readonly Scope[], endpointIds = [endpointId]): Promise<string> =>
    bench.newKey(scopes, { maker: account.key, endpointIds });

  test('lists those alone', async () => {
    const key = await limited(['serverless:read']);
    expect(each(await bench.call('GET /v2/serverless', { key }), 'endpoints', 'id')).toEqual([endpointId]);
  });

  test('sees, makes and revokes keys that reach no others', async () => {
    const key = await limited(['keys:read', 'keys:write']);
    const wider = await limited(['keys:read'], [endpointId, account.id('endpoint')]);
    const made = await bench.call('POST /v2/api-keys', {
      key,
      body: { name: 'made', scopes: ['keys:read'], endpointIds: [endpointId] },
    });
    expect(made.status).toBe(201);
    const seen = (await bench.call('GET /v2/api-keys', { key })).body.apiKeys as { id: string; endpointIds: unknown }[];
    expect(seen.map(({ endpointIds }) => endpointIds)).toEqual(seen.map(() => [endpointId]));
    expect(seen.map(({ id }) => id)).toContain(made.body.id);
    expect(await bench.call(`DELETE /v2/api-keys/${made.body.id}`, { key })).toMatchObject({ status: 204 });
    const all = (await bench.call('GET /v2/api-keys', { key: account.key })).body.apiKeys as {
      id: string;
      prefix: string;
    }[];
    for (const { id, prefix } of all) {
      if (seen.some((other) => other.id === id)) continue;
      expect(await bench.call(`DELETE /v2/api-keys/${id}`, { key })).toMatchObject({ status: 403 });
      expect(await bench.apiKeySnapshot(prefix)).toBeDefined();
    }
    expect(await bench.call('GET /v2/api-keys', { key: wider })).toMatchObject({ status: 200 });
  });

  test('has its other scopes for the whole account', async () => {
    const key = await limited(['templates:read', 'registries:read', 'volumes:read', 'clusters:read']);
    for (const [collection, resource] of [
      ['templates', 'template'],
      ['registries', 'registry'],
      ['network-volumes', 'network volume'],
      ['clusters', 'cluster'],
      ['pods', 'pod'],
    ] as const) {
      const answer = await bench.call(`GET /v2/${collection}/${account.id(resource)}`, { key });
      expect([resource, answer.status]).toEqual([resource, 200]);
    }
  });
});
