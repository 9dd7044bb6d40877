import { beforeEach, describe, expect, test } from '@jest/globals';
import { BUCKETS, webhookSecretContext, type WebhookSecretsSnapshot } from '@berth/contracts';
import type { EndpointId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { QUEUE_ENDPOINT, useManagementApi, type Answer } from './management-bench.js';

const DAY_MS = 24 * 3_600_000;
const PROBLEM = 'https://api.example.com/docs/problems/';
const INSTANT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

const bench = useManagementApi();

interface Shown {
  readonly id: string;
  readonly secret: string;
  readonly createdAt: string;
  readonly expiresAt?: string;
}

let id: string;

beforeEach(async () => {
  id = (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id;
});

const list = (of = id): Promise<Answer> => bench.call(`GET /v2/serverless/${of}/webhook-secrets`);
const rotate = (options: object = {}): Promise<Answer> =>
  bench.call(`POST /v2/serverless/${id}/webhook-secrets/rotate`, options);
const shown = async (): Promise<readonly Shown[]> => (await list()).body.secrets as Shown[];
const told = async (of = id): Promise<WebhookSecretsSnapshot | undefined> =>
  (await bench.writerOf<WebhookSecretsSnapshot>(BUCKETS.webhookSecrets).read(of))?.value;

/** What a router signs with: the sealed text of the bucket, opened as a router opens it. */
const openTold = (snapshot: WebhookSecretsSnapshot | undefined): readonly string[] =>
  (snapshot?.secrets ?? []).map((each) =>
    bench.secrets.open(each.sealed, webhookSecretContext(id as EndpointId, each.id)),
  );

const actions = async (): Promise<readonly string[]> =>
  ((await bench.call(`GET /v2/audit?resourceId=${id}`)).body.entries as { action: string }[]).map(
    ({ action }) => action,
  );

describe('GET /v2/serverless/{id}/webhook-secrets', () => {
  test('200 with the one that was made with the endpoint, and the routers know it, sealed', async () => {
    const snapshot = await told();
    const { body, status } = await list();
    expect(status).toBe(200);
    expect(body).toEqual({
      secrets: [{ id: `${id}.1`, secret: expect.any(String), createdAt: expect.stringMatching(INSTANT) }],
    });
    const [{ secret }] = body.secrets as [Shown];
    const bytes = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    expect(secret).toBe(`whsec_${bytes.toString('base64')}`);
    expect(bytes.byteLength).toBeGreaterThanOrEqual(24);
    expect(bytes.byteLength).toBeLessThanOrEqual(64);
    expect(snapshot).toMatchObject({ endpointId: id, secrets: [{ id: `${id}.1`, expiresAtMs: null }] });
    expect(openTold(snapshot)).toEqual([secret]);
    expect(JSON.stringify(snapshot)).not.toContain(secret);
  });

  test('200 with one made now for an endpoint that is older than secrets', async () => {
    await bench.source.query('DELETE FROM webhook_secrets WHERE endpoint_id = $1', [id]);
    const secrets = await shown();
    expect(secrets).toHaveLength(1);
    expect(await shown()).toEqual(secrets);
    expect(openTold(await told())).toEqual(secrets.map(({ secret }) => secret));
  });

  test('the first questions of many at once make one', async () => {
    await bench.source.query('DELETE FROM webhook_secrets WHERE endpoint_id = $1', [id]);
    const answers = await Promise.all([list(), list(), list(), list()]);
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });
});

describe('POST /v2/serverless/{id}/webhook-secrets/rotate', () => {
  test('200 with the new one; the one before is valid for a day, and one before that no longer', async () => {
    const [first] = await shown();
    const answered = (await rotate()).body as Shown;
    expect(answered).toEqual({ id: `${id}.2`, secret: expect.any(String), createdAt: expect.stringMatching(INSTANT) });
    const both = await shown();
    expect(both).toEqual([answered, { ...first, expiresAt: expect.stringMatching(INSTANT) }]);
    const leftMs = Date.parse(both[1]?.expiresAt ?? '') - systemClock.nowMs();
    expect(leftMs).toBeGreaterThan(DAY_MS - 60_000);
    expect(leftMs).toBeLessThanOrEqual(DAY_MS);
    expect(openTold(await told())).toEqual([answered.secret, first?.secret]);

    await rotate();
    expect((await shown()).map((each) => each.id)).toEqual([`${id}.3`, `${id}.2`]);
  });

  test('one whose day is over is shown no more', async () => {
    await rotate();
    await bench.source.query(
      `UPDATE webhook_secrets SET created_at = now() - interval '2 days', expires_at = now() - interval '1 second'
        WHERE endpoint_id = $1 AND ordinal = 1`,
      [id],
    );
    expect((await shown()).map((each) => each.id)).toEqual([`${id}.2`]);
  });

  test('sent again under the same key it changes nothing more', async () => {
    const headers = { 'idempotency-key': `rotate-${id}` };
    const first = await rotate({ headers });
    const again = await rotate({ headers });
    expect(again.body).toEqual(first.body);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await shown()).toHaveLength(2);
  });

  test('is in the audit trail, the secret is not; nor is it in any row in clear', async () => {
    const { secret } = (await rotate()).body as Shown;
    expect(await actions()).toEqual(['webhook-secret.rotated', 'endpoint.created']);
    const trail = await bench.call(`GET /v2/audit?resourceId=${id}`);
    const rows = await bench.source.query('SELECT row_to_json(s)::text AS text FROM webhook_secrets s');
    expect(JSON.stringify([trail.body, rows])).not.toContain(secret);
  });
});

describe('401, 403, 404', () => {
  const paths = ['GET /v2/serverless/ID/webhook-secrets', 'POST /v2/serverless/ID/webhook-secrets/rotate'];

  test.each(paths)('%s', async (path) => {
    const own = path.replace('ID', id);
    expect(await bench.call(own, { key: null })).toMatchObject({ status: 401 });
    expect(await bench.call(own, { key: await bench.keyWithout('serverless:write') })).toMatchObject({ status: 403 });
    const foreign = await bench.call(own, { key: await bench.newAccount() });
    expect(foreign).toMatchObject({ status: 404, body: { type: `${PROBLEM}endpoint-not-found` } });
    await bench.call(`DELETE /v2/serverless/${id}`);
    expect(await bench.call(own)).toMatchObject({ status: 404 });
  });
});

test('they go with the endpoint: rows and what the routers are told', async () => {
  await bench.call(`DELETE /v2/serverless/${id}`);
  expect(await bench.source.query('SELECT 1 FROM webhook_secrets WHERE endpoint_id = $1', [id])).toEqual([]);
  expect(await told()).toBeUndefined();
});

test('at its start a process gives one to endpoints without, and tells the routers what they have lost', async () => {
  const other = (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id as string;
  await bench.source.query('DELETE FROM webhook_secrets WHERE endpoint_id = $1', [id]);
  await bench.writerOf(BUCKETS.webhookSecrets).delete(id);
  await bench.writerOf(BUCKETS.webhookSecrets).delete(other);
  const { stop } = await bench.startProcess();
  await eventually(async () => {
    expect((await told())?.secrets).toHaveLength(1);
    expect((await told(other))?.secrets).toHaveLength(1);
  });
  await stop();
  expect(openTold(await told())).toEqual((await shown()).map(({ secret }) => secret));
});
