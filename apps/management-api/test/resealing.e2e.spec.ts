import { BUCKETS, type WebhookSecretsSnapshot } from '@berth/contracts';
import { systemClock, systemRandom } from '@berth/lifecycle';
import type { SecretBox } from '@berth/secrets';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Database } from '../src/persistence/database.js';
import { RegistryCredentialsService } from '../src/registries/registry-credentials-service.js';
import { Resealing } from '../src/sealing/resealing.js';
import type { SealedPlace, SealedRow } from '../src/sealing/sealed-place.js';
import { sealedPlaces } from '../src/sealing/sealed-places.js';
import { composeWebhookSecrets } from '../src/webhook-secrets/compose-webhook-secrets.js';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';
import { secretBox, secretKeys } from './secret-box.js';

const [OLD, NEW] = [11, 12];
/** As in the first step of a rotation: what is sealed with the new key opens already. */
const bench = useManagementApi({ environment: { BERTH_SECRET_KEY: secretKeys(OLD, NEW) } });

const PREFIX = secretBox(NEW).prefix;
const OLD_PREFIX = secretBox(OLD).prefix;
const KINDS = [
  ...['registry', 'endpoint-env', 'release-env', 'template-env', 'release-change', 'audit-change'],
  ...['webhook-secret', 'kept-answer'],
];
const ENV = { TOKEN_OF: 'the first', EMPTY: '' };

let account: string;
let endpointId: string;
let templateId: string;
let registryId: string;

beforeEach(async () => {
  account = await bench.newAccount();
  const made = async (path: string, body: object): Promise<string> =>
    (await bench.call(`POST ${path}`, { key: account, body, headers: { 'idempotency-key': systemRandom.uuid() } })).body
      .id as string;
  registryId = await made('/v2/registries', { name: 'r', username: 'u', password: 'p' });
  templateId = await made('/v2/templates', { name: 't', image: 'local/echo', serverless: true, env: ENV });
  endpointId = await made('/v2/serverless', { ...QUEUE_ENDPOINT, env: ENV });
  await bench.call(`PATCH /v2/serverless/${endpointId}`, { key: account, body: { env: { ...ENV, EMPTY: 'more' } } });
  await bench.call(`POST /v2/serverless/${endpointId}/webhook-secrets/rotate`, { key: account });
});

/** All that the API shows of what rests sealed. */
async function shown(url = bench.url): Promise<unknown> {
  const paths = [
    ...['', '/releases', '/webhook-secrets'].map((path) => `/v2/serverless/${endpointId}${path}`),
    `/v2/templates/${templateId}`,
  ];
  const answers = await Promise.all(paths.map((path) => bench.call(`GET ${path}`, { key: account, url })));
  const audit = await bench.call(`GET /v2/audit?resourceId=${endpointId}`, { url });
  return [...answers, audit].map(({ body, headers, status }) => ({ body, status, etag: headers.get('etag') }));
}

/** How many texts of each table begin with the old key's prefix. */
async function oldTexts(): Promise<Readonly<Record<string, number>>> {
  const tables = ['registries', 'endpoints', 'releases', 'templates', 'audit_entries', 'webhook_secrets'];
  const counts = tables.map(async (table) => {
    const rows = await bench.source.query<{ text: string }[]>(`SELECT row_to_json(t)::text AS text FROM "${table}" t`);
    return [table, JSON.stringify(rows).split(OLD_PREFIX).length - 1] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
}

const NONE = { registries: 0, endpoints: 0, releases: 0, templates: 0, audit_entries: 0, webhook_secrets: 0 };

const metric = async (operationsUrl: string): Promise<string> => (await fetch(`${operationsUrl}/metrics`)).text();

const database = (): Database => new Database(bench.source);

/** The rotation as a process has it, without its loop. */
function places(secrets: SecretBox): readonly SealedPlace[] {
  const snapshots = { webhookSecretsChanged: () => Promise.resolve() };
  const tools = { clock: systemClock, random: systemRandom, database: database(), secrets };
  const { keeper } = composeWebhookSecrets({ ...tools, snapshots });
  const credentials = new RegistryCredentialsService(secrets, silentLogger);
  return sealedPlaces({ ...tools, credentials, webhookSecrets: keeper });
}

function placeOf(kind: string): SealedPlace {
  const found = places(secretBox(NEW, OLD)).find((place) => place.kind === kind);
  if (found === undefined) throw new Error(kind);
  return found;
}

/** One pass, and what its metrics say then. */
async function pass(secrets = secretBox(NEW, OLD)): Promise<string> {
  const metrics = new MetricRegistry();
  const resealing = new Resealing({ places: places(secrets), secrets, logger: silentLogger, metrics });
  await resealing.run(new AbortController().signal);
  return metrics.text();
}

const left = (kind: string, count: number): string =>
  `berth_management_sealed_with_old_keys{kind="${kind}"} ${String(count)}\n`;

describe('a process whose first key is a new one', () => {
  test('seals all that rests with it; the API shows the same, and goes on when the old key is away', async () => {
    const before = await shown();
    expect(Object.values(await oldTexts()).every((count) => count > 0)).toBe(true);
    const both = await bench.startProcess({ BERTH_SECRET_KEY: secretKeys(NEW, OLD) });
    await eventually(
      async () => {
        const text = await metric(both.operationsUrl);
        for (const kind of KINDS.slice(0, -1)) expect(text).toContain(left(kind, 0));
        expect(text).toMatch(/berth_management_sealed_with_old_keys\{kind="kept-answer"\} [1-9]/);
      },
      { deadlineMs: 90_000 },
    );
    expect(await oldTexts()).toEqual(NONE);
    const writer = bench.writerOf<WebhookSecretsSnapshot>(BUCKETS.webhookSecrets);
    const told = (await writer.read(endpointId))?.value.secrets ?? [];
    expect(told.map(({ sealed }) => sealed.startsWith(PREFIX))).toEqual([true, true]);
    expect(await shown()).toEqual(before);
    await both.stop();
    const alone = await bench.startProcess({ BERTH_SECRET_KEY: secretKeys(NEW) });
    expect(await shown(alone.url)).toEqual(before);
    await alone.stop();
  });
});

describe('a pass', () => {
  test('may be made by several at once, and again', async () => {
    const before = await shown();
    await Promise.all([pass(), pass(), pass()]);
    expect(await oldTexts()).toEqual(NONE);
    expect(await pass()).not.toContain('berth_management_resealed_total{');
    expect(await shown()).toEqual(before);
  });

  test('beside another with the opposite order ends', async () => {
    await Promise.all([pass(), pass(secretBox(OLD, NEW))]);
    await pass();
    expect(await oldTexts()).toEqual(NONE);
  });

  test('leaves what nobody can open, counts it, and stops at nothing', async () => {
    const sealed = secretBox(99).seal('{}', 'registry:lost');
    await bench.source.query('UPDATE registries SET sealed_credentials = $2 WHERE id = $1', [registryId, sealed]);
    const text = await pass();
    expect(text).toContain(left('registry', 1));
    expect(text).toContain('berth_management_reseal_failures_total{kind="registry"} 1\n');
    expect(await oldTexts()).toEqual(NONE);
    const [row] = await bench.source.query<{ text: string }[]>(
      'SELECT sealed_credentials AS text FROM registries WHERE id = $1',
      [registryId],
    );
    expect(row?.text).toBe(sealed);
    await bench.source.query('DELETE FROM registries WHERE id = $1', [registryId]);
  });

  test('looks page by page at more rows than a page has', async () => {
    await bench.source.query(
      `INSERT INTO audit_entries (at, account_id, api_key_id, action, resource_id, diff)
       SELECT now(), 'a', 'k', 'endpoint.updated', 'r', jsonb_build_array(jsonb_build_object(
         'field', 'env.A', 'old', NULL, 'new', CASE WHEN n % 50 = 0 THEN $1 ELSE '***' END))
         FROM generate_series(1, 250) AS n`,
      [secretBox(OLD).seal('x', 'change:a:r')],
    );
    await pass();
    expect(await oldTexts()).toEqual(NONE);
  });
});

describe('a change that is made meanwhile', () => {
  const CHANGED = { TOKEN_OF: 'the second' };

  test.each(['endpoint-env', 'template-env'])('of %s is not lost, and is sealed later', async (kind) => {
    const place = placeOf(kind);
    const id = kind === 'endpoint-env' ? endpointId : templateId;
    const path = kind === 'endpoint-env' ? `/v2/serverless/${id}` : `/v2/templates/${id}`;
    const row = await rowOf(place, id);
    await bench.call(`PATCH ${path}`, { key: account, body: { env: CHANGED } });
    expect(await place.renew(row)).toBe(false);
    expect((await bench.call(`GET ${path}`, { key: account })).body.env).toEqual(CHANGED);
    await pass();
    expect((await bench.call(`GET ${path}`, { key: account })).body.env).toEqual(CHANGED);
    expect(await oldTexts()).toEqual(NONE);
  });

  test('of a webhook secret is not lost', async () => {
    const place = placeOf('webhook-secret');
    const row = await rowOf(place, endpointId);
    const rotated = await bench.call(`POST /v2/serverless/${endpointId}/webhook-secrets/rotate`, { key: account });
    await place.renew(row);
    const listed = await bench.call(`GET /v2/serverless/${endpointId}/webhook-secrets`, { key: account });
    expect(listed.body.secrets[0]).toEqual(rotated.body);
    expect(listed.body.secrets).toHaveLength(2);
  });

  test('that is not committed yet is waited for', async () => {
    const place = placeOf('template-env');
    const row = await rowOf(place, templateId);
    const box = secretBox(OLD);
    const sealed = box.seal('{"A":"b"}', `env:template:${row.accountId}:${templateId}`);
    let renewed: Promise<boolean> | undefined;
    await bench.source.transaction(async (manager) => {
      await manager.query('UPDATE templates SET env = to_jsonb($2::text) WHERE id = $1', [templateId, sealed]);
      renewed = place.renew(row);
      await eventually(async () => expect(await waiting()).toBeGreaterThan(0), { deadlineMs: 90_000 });
    });
    expect(await renewed).toBe(false);
    expect((await bench.call(`GET /v2/templates/${templateId}`, { key: account })).body.env).toEqual({ A: 'b' });
  });

  async function waiting(): Promise<number> {
    const [row] = await bench.source.query<{ count: number }[]>(
      `SELECT count(*)::int AS count FROM pg_locks l JOIN pg_database d ON d.oid = l.database OR l.database IS NULL
        WHERE NOT l.granted AND d.datname = current_database()`,
    );
    return row?.count ?? 0;
  }

  async function rowOf(place: SealedPlace, id: string): Promise<SealedRow> {
    const row = (await place.page(null, 1_000)).find(({ key }) => key[0] === id);
    if (row?.stale == null) throw new Error(`${place.kind} has no row of ${id} to seal anew`);
    return row;
  }
});

describe('an audit entry', () => {
  const change = (set: string): Promise<unknown> =>
    bench.source.query(`UPDATE audit_entries SET ${set} WHERE resource_id = $1`, [endpointId]);

  test('takes another seal, and nothing else', async () => {
    const sealed = secretBox(NEW).seal('x', 'change');
    const otherSeal = `regexp_replace(diff::text, '"v1[.][^"]*"', '"${sealed}"', 'g')::jsonb`;
    for (const set of [
      `diff = '[]'`,
      `diff = diff || '[{"field":"env.B","old":null,"new":"${sealed}"}]'`,
      `diff = replace(diff::text, 'env.', 'enw.')::jsonb`,
      `diff = regexp_replace(diff::text, '"v1[.][^"]*"', '"plain"', 'g')::jsonb`,
      `diff = ${otherSeal}, api_key_id = 'k'`,
      `at = now()`,
    ]) {
      await expect(change(set)).rejects.toThrow('audit_entries is only ever added to');
    }
    await change(`diff = ${otherSeal}`);
  });
});
