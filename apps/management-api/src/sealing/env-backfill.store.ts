import type { AccountId } from '@berth/domain';
import type { Database, Env, EnvOwner, EnvSeal } from '../persistence/index.js';

interface PlainRow {
  readonly id: string;
  /** Ordinal of a release; null elsewhere. */
  readonly release: number | null;
  readonly account_id: string;
  readonly env: Env;
}

interface Place {
  readonly kind: EnvOwner['kind'];
  /** Rows whose variables are still plain: `$1` bounds them. */
  readonly plain: string;
  /** Seals one if it still holds what was read: id `$1`, release `$2`, as read `$3`, sealed `$4`. */
  readonly seal: string;
}

const PLACES: readonly Place[] = [
  {
    kind: 'endpoint',
    plain: `SELECT id, NULL AS release, account_id, spec->'container'->'env' AS env FROM endpoints
             WHERE jsonb_typeof(spec->'container'->'env') = 'object' LIMIT $1`,
    seal: `UPDATE endpoints SET spec = jsonb_set(spec, '{container,env}', $4::jsonb)
            WHERE id = $1 AND $2::integer IS NULL AND spec->'container'->'env' = $3::jsonb`,
  },
  {
    kind: 'endpoint',
    plain: `SELECT r.endpoint_id AS id, r.release, e.account_id, r.container->'env' AS env
              FROM releases r JOIN endpoints e ON e.id = r.endpoint_id
             WHERE jsonb_typeof(r.container->'env') = 'object' LIMIT $1`,
    seal: `UPDATE releases SET container = jsonb_set(container, '{env}', $4::jsonb)
            WHERE endpoint_id = $1 AND release = $2 AND container->'env' = $3::jsonb`,
  },
  {
    kind: 'template',
    plain: `SELECT id, NULL AS release, account_id, env FROM templates WHERE jsonb_typeof(env) = 'object' LIMIT $1`,
    seal: `UPDATE templates SET env = $4::jsonb WHERE id = $1 AND $2::integer IS NULL AND env = $3::jsonb`,
  },
];

/** Finds rows whose variables rest in the clear, from before they were sealed or from a process that does not seal yet. */
export class EnvBackfillStore {
  readonly #database: Database;
  readonly #envs: EnvSeal;

  constructor(database: Database, envs: EnvSeal) {
    this.#database = database;
    this.#envs = envs;
  }

  /**
   * Seals at most `limit` rows of each kind and returns how many it found. A row that was changed meanwhile is left to
   * its writer; the row's version stays, for to its readers nothing has changed.
   */
  async sealSome(limit: number): Promise<number> {
    let found = 0;
    for (const { kind, plain, seal } of PLACES) {
      const rows = await this.#database.read((manager) => manager.query<PlainRow[]>(plain, [limit]));
      for (const { account_id, env, id, release } of rows) {
        const sealed = this.#envs.seal(env, { kind, accountId: account_id as AccountId, id });
        const values = [id, release, JSON.stringify(env), JSON.stringify(sealed)];
        await this.#database.read((manager) => manager.query(seal, values));
      }
      found += rows.length;
    }
    return found;
  }
}
