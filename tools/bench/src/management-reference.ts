import { createHash } from 'node:crypto';
import { systemClock, systemRandom } from '@berth/lifecycle';
import fastify, { type FastifyRequest } from 'fastify';
import { Pool } from 'pg';
import { runReference } from './reference-process.js';

/**
 * The least that the management API can be: the same statements in the same transaction on the same PostgreSQL, and
 * nothing else. No validation, no rules between fields, no problems, no snapshot for the routers, no hint to the loops.
 */
const [, , databaseUrl = ''] = process.argv;
const pool = new Pool({ connectionString: databaseUrl });
const ID_LENGTH = 14;

const KEY_BY_PREFIX = `
  SELECT id, account_id, name, prefix, hash, scopes, endpoint_ids, expires_at, created_at
    FROM api_keys WHERE prefix = $1 LIMIT 1`;
const HOLD_ACCOUNT = `
  SELECT 1 FROM accounts WHERE id = $1 AND deleted_at IS NULL FOR KEY SHARE`;
const INSERT_ENDPOINT = `
  INSERT INTO endpoints (id, account_id, spec, release, version, created_at, deleted_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING version`;
const INSERT_RELEASE = `
  INSERT INTO releases (endpoint_id, release, container, diff, created_by, created_at)
  VALUES ($1, $2, $3, $4, $5, $6) RETURNING diff`;
const INSERT_SECRET = `
  INSERT INTO webhook_secrets (endpoint_id, ordinal, sealed_secret, created_at, expires_at)
  VALUES ($1, 1, $2, $3, NULL)`;
const INSERT_AUDIT_ENTRY = `
  INSERT INTO audit_entries (at, account_id, api_key_id, action, resource_id, diff, request_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`;
const HOLD_COUNT = `
  SELECT limits FROM accounts WHERE id = $1 FOR NO KEY UPDATE`;
const COUNT_ENDPOINTS = `
  SELECT count(1) FROM endpoints WHERE account_id = $1 AND deleted_at IS NULL`;
const LIST = `
  SELECT id, account_id, spec, release, version, created_at, deleted_at FROM endpoints
   WHERE account_id = $1 AND deleted_at IS NULL ORDER BY created_at, id`;

interface Body {
  readonly name: string;
  readonly type: string;
  readonly image: string;
  readonly cpu: readonly { readonly id: string; readonly vcpuCount: number }[];
  readonly scaling: object;
  readonly workers: { readonly min: number; readonly max: number };
}

const specOf = ({ cpu, image, name, scaling, type, workers }: Body) => ({
  name,
  type,
  container: { image, args: '', diskGb: null, env: {}, ports: [], registryId: null },
  scaling,
  workers: { ...workers, idleTimeoutSeconds: null },
  gpu: null,
  cpu: cpu.map(({ id, vcpuCount }) => ({ flavorId: id, vcpuCount })),
  dataCenterIds: [],
  networkVolumeIds: [],
  flashboot: 'OFF',
  executionTimeoutMs: 300_000,
});

type Spec = ReturnType<typeof specOf>;

/** The account and the key that ask. */
async function callerOf(request: FastifyRequest): Promise<{ accountId: string; keyId: string }> {
  const key = request.headers.authorization?.slice('Bearer '.length) ?? '';
  const { rows } = await pool.query<{ account_id: string; hash: string; id: string }>(KEY_BY_PREFIX, [
    key.split('_')[1],
  ]);
  const [row] = rows;
  if (row?.hash !== createHash('sha256').update(key).digest('hex')) throw new Error('another key');
  return { accountId: row.account_id, keyId: row.id };
}

const app = fastify();

app.post<{ Body: Body }>('/v2/serverless', async (request, reply) => {
  const { accountId, keyId } = await callerOf(request);
  const spec = specOf(request.body);
  const id = systemRandom.id(ID_LENGTH);
  const at = new Date(systemClock.nowMs());
  const client = await pool.connect();
  await client.query('START TRANSACTION');
  await client.query(HOLD_ACCOUNT, [accountId]);
  await client.query(INSERT_ENDPOINT, [id, accountId, JSON.stringify(spec), 1, 1, at, null]);
  await client.query(INSERT_RELEASE, [id, 1, JSON.stringify(spec.container), '[]', keyId, at]);
  await client.query(INSERT_AUDIT_ENTRY, [at, accountId, keyId, 'endpoint.created', id, diffOf(spec), request.id]);
  await client.query(INSERT_SECRET, [id, `v1.00000000.${'x'.repeat(100)}`, at]);
  await client.query(HOLD_COUNT, [accountId]);
  await client.query(COUNT_ENDPOINTS, [accountId]);
  await client.query('COMMIT');
  client.release();
  return reply.status(201).send({ id, ...spec, createdAt: at });
});

/** As long as ours. */
const diffOf = (spec: Spec): string =>
  JSON.stringify(Object.entries(spec).map(([field, value]) => ({ field, old: null, new: value })));

app.get('/v2/serverless', async (request) => {
  const { accountId } = await callerOf(request);
  const { rows } = await pool.query<{ id: string; spec: Spec; created_at: Date }>(LIST, [accountId]);
  return { endpoints: rows.map(({ created_at: createdAt, id, spec }) => ({ id, ...spec, createdAt })) };
});

runReference(await app.listen({ host: '127.0.0.1', port: 0 }), async () => {
  await app.close();
  await pool.end();
});
