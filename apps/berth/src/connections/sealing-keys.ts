import type { Client } from 'pg';

/** Secrets of the database by the key that has sealed them, as sealed texts name it. */
export type SealingKeys = ReadonlyMap<string, number>;

/** Of changes, what they tell of variables; the rest of a change is not sealed. */
const SEALED_CHANGES = `'$[*] ? (@.field starts with "env.").* ? (@ like_regex "^v1[.][0-9a-f]{8}[.]")'`;
/** Above what any installation has had. */
const KEYS_MAX = 100;

/** Every place of the database that holds sealed text, as the management API seals it anew. */
const SEALING_KEYS = `
  SELECT substr(text, 4, 8) AS key, count(*)::float8 AS secrets FROM (
    SELECT sealed_credentials AS text FROM registries
    UNION ALL SELECT sealed_secret FROM webhook_secrets
    UNION ALL SELECT left(sealed, 16) FROM idempotency_keys
    UNION ALL SELECT spec->'container'->>'env' FROM endpoints
    UNION ALL SELECT container->>'env' FROM releases
    UNION ALL SELECT env #>> '{}' FROM templates
    UNION ALL SELECT jsonb_path_query(diff, ${SEALED_CHANGES}) #>> '{}' FROM releases
    UNION ALL SELECT jsonb_path_query(diff, ${SEALED_CHANGES}) #>> '{}' FROM audit_entries
  ) sealed WHERE text ~ '^v1[.][0-9a-f]{8}[.]' GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${String(KEYS_MAX)}`;

/** Reads each of these tables once, and no secret leaves the database. @throws what the driver throws */
export async function readSealingKeys(client: Pick<Client, 'query'>): Promise<SealingKeys> {
  const { rows } = await client.query<{ key: string; secrets: number }>(SEALING_KEYS);
  return new Map(rows.map(({ key, secrets }) => [key, secrets]));
}
