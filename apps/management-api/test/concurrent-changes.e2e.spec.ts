import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUE_ENDPOINT, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

interface Change {
  readonly field: string;
  readonly old: string | null;
  readonly new: string | null;
}

interface Release {
  readonly version: number;
  readonly createdAt: string;
  readonly diff: readonly Change[];
}

/** Each waits for all before it, which has its limit, also where the machine is slow. */
const PATCHES = 80;

/** Two processes on one database: no order comes from being in one. */
let urls: readonly string[];
let id: string;

beforeAll(async () => {
  urls = [bench.url, (await bench.startProcess()).url];
});

beforeEach(async () => {
  id = (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id;
});

const processOf = (index: number): { url: string } => ({ url: urls[index % urls.length] ?? bench.url });

const patch = (index: number, body: object, headers: Record<string, string> = {}): Promise<Answer> =>
  bench.call(`PATCH /v2/serverless/${id}`, { body, headers, ...processOf(index) });

const all = <Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)));

const numbered = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

const auditOf = async (resourceId = id) =>
  (await bench.call(`GET /v2/audit?resourceId=${resourceId}&limit=1000`)).body.entries as {
    action: string;
    diff: Change[];
  }[];

/** What was old is what was new before: the changes form one line. */
function expectLine(changes: readonly Change[], first: string | null, last: string | null): void {
  expect(changes.map(({ old }) => old)).toEqual([first, ...changes.slice(0, -1).map((change) => change.new)]);
  expect(changes.at(-1)?.new).toBe(last);
}

describe('changes that come at once', () => {
  test('are made one after the other: each is in the trail, releases are dense, what is read is the last of all', async () => {
    const answers = await all(PATCHES, (index) =>
      patch(index, index % 2 === 0 ? { env: { N: `${index}` } } : { name: `${index}` }),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    const tags = answers.map(({ headers }) => Number(headers.get('etag')?.replaceAll('"', ''))).sort((a, b) => a - b);
    expect(tags).toEqual(numbered(PATCHES).map((n) => n + 1));
    const { body, headers } = await bench.call(`GET /v2/serverless/${id}`);
    expect(headers.get('etag')).toBe(`"${PATCHES + 1}"`);
    const releases = (await bench.call(`GET /v2/serverless/${id}/releases`)).body.releases as Release[];
    const inOrder = releases.toReversed();
    expect(inOrder.map(({ version }) => version)).toEqual(numbered(PATCHES / 2 + 1));
    expect(inOrder.map(({ createdAt }) => createdAt)).toEqual(inOrder.map(({ createdAt }) => createdAt).sort());
    expectLine(
      inOrder.flatMap(({ diff }) => diff),
      null,
      body.env.N,
    );
    const trail = (await auditOf()).toReversed().filter(({ action }) => action === 'endpoint.updated');
    expect(trail).toHaveLength(PATCHES);
    expectLine(
      trail.flatMap(({ diff }) => diff).filter(({ field }) => field === 'name'),
      'echo',
      body.name,
    );
  });

  test('with If-Match lose nothing: every one of many counts is counted', async () => {
    const clients = 20;
    const countUp = async (index: number): Promise<void> => {
      for (;;) {
        const { body, headers } = await bench.call(`GET /v2/serverless/${id}`, processOf(index));
        const tag = headers.get('etag') ?? '';
        const { status } = await patch(index, { workers: { max: body.workers.max + 1 } }, { 'if-match': tag });
        if (status === 200) return;
        expect(status).toBe(412);
      }
    };
    await all(clients, countUp);
    expect((await bench.call(`GET /v2/serverless/${id}`)).body.workers.max).toBe(3 + clients);
    expect(await bench.endpointSnapshot(id)).toMatchObject({ workersMax: 3 + clients });
  });

  test('and deletions: one deletes, and nothing changes after it', async () => {
    const answers = await all(PATCHES, (index) =>
      index % 20 === 19
        ? bench.call(`DELETE /v2/serverless/${id}`, processOf(index))
        : patch(index, { env: { N: `${index}` } }),
    );
    const statuses = Map.groupBy(answers, ({ status }) => status);
    for (const status of statuses.keys()) expect([200, 204, 404]).toContain(status);
    expect(statuses.get(204)).toHaveLength(1);
    expect(await bench.call(`GET /v2/serverless/${id}`)).toMatchObject({ status: 404 });
    expect(await bench.endpointSnapshot(id)).toMatchObject({ isDeleted: true });
    const trail = await auditOf();
    expect(trail[0]?.action).toBe('endpoint.deleted');
    expect(trail).toHaveLength(2 + (statuses.get(200)?.length ?? 0));
  });
});

describe('what an endpoint refers to is deleted at the same moment', () => {
  const rounds = 20;

  interface Kind {
    readonly path: string;
    readonly body: object;
    readonly referring: (resource: string) => object;
  }

  test.each<[string, Kind]>([
    [
      'a registry',
      {
        path: '/v2/registries',
        body: { name: 'r', username: 'u', password: 'p' },
        referring: (registry) => ({ registry }),
      },
    ],
    [
      'a volume',
      {
        path: '/v2/network-volumes',
        body: { name: 'v', size: 10, dataCenter: 'EU-RO-1' },
        referring: (volume) => ({ networkVolumes: [volume] }),
      },
    ],
  ])('%s: either it is in use, or it is not found', async (_, { body, path, referring }) => {
    const outcomes = await all(rounds, async (index) => {
      const resource = (await bench.call(`POST ${path}`, { body })).body.id as string;
      const isPatch = index % 2 === 0;
      const target = isPatch ? (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id : '';
      const [made, deleted] = await Promise.all([
        isPatch
          ? bench.call(`PATCH /v2/serverless/${target}`, { body: referring(resource), ...processOf(index) })
          : bench.call('POST /v2/serverless', {
              body: { ...QUEUE_ENDPOINT, ...referring(resource) },
              ...processOf(index),
            }),
        bench.call(`DELETE ${path}/${resource}`, processOf(index + 1)),
      ]);
      return [made.status < 300 ? 'made' : made.status, deleted.status];
    });
    for (const outcome of outcomes) {
      expect([
        ['made', 400],
        [404, 204],
      ]).toContainEqual(outcome);
    }
  });

  test('what a deleted endpoint referred to is free', async () => {
    const volume = await bench.call('POST /v2/network-volumes', {
      body: { name: 'v', size: 10, dataCenter: 'EU-RO-1' },
    });
    const networkVolumes = [volume.body.id as string];
    const used = await bench.call('POST /v2/serverless', { body: { ...QUEUE_ENDPOINT, networkVolumes } });
    expect(await bench.call(`DELETE /v2/network-volumes/${volume.body.id}`)).toMatchObject({ status: 400 });
    await bench.call(`DELETE /v2/serverless/${used.body.id}`);
    expect(await bench.call(`DELETE /v2/network-volumes/${volume.body.id}`)).toMatchObject({ status: 204 });
  });
});
