import { IMAGES_AHEAD_MAX, type WantedImage } from '@berth/contracts';
import type { AccountId, EndpointId, HostId } from '@berth/domain';
import type { Database } from '../persistence/index.js';
import type { SealedRegistry } from '../registries/index.js';

/** With the credentials of its registry still sealed. */
export interface StoredWantedImage extends Omit<WantedImage, 'registryCredentials'> {
  readonly sealedRegistry?: SealedRegistry;
}

interface Row {
  readonly endpoint_id: EndpointId;
  readonly account_id: AccountId;
  readonly release: number;
  readonly image: string;
  readonly image_digest: string | null;
  readonly registry_id: string | null;
  readonly sealed_credentials: string | null;
}

/** Images that are wanted on a host before their first worker is there (ADR 0064). */
export class ImagesAheadStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Those of the latest releases of endpoints that have a worker of an older one on the host, the oldest worker first. */
  async on(hostId: HostId): Promise<readonly StoredWantedImage[]> {
    const rows = await this.#database.read((manager) =>
      manager.query<Row[]>(
        `SELECT e.id AS endpoint_id, e.account_id, e.release,
                COALESCE(r.container, e.spec->'container')->>'image' AS image, r.image_digest,
                g.id AS registry_id, g.sealed_credentials
           FROM (SELECT w.endpoint_id, max(w.release) AS release, min(w.created_at) AS since
                   FROM workers w WHERE w.host_id = $1 AND w.intent <> 'drained' GROUP BY w.endpoint_id) old
           JOIN endpoints e ON e.id = old.endpoint_id AND e.deleted_at IS NULL AND e.release > old.release
           LEFT JOIN releases r ON r.endpoint_id = e.id AND r.release = e.release
           LEFT JOIN registries g ON g.account_id = e.account_id
                 AND g.id = COALESCE(r.container, e.spec->'container')->>'registryId'
          ORDER BY old.since, e.id LIMIT $2`,
        [hostId, IMAGES_AHEAD_MAX],
      ),
    );
    return rows.map((row) => ({
      endpointId: row.endpoint_id,
      accountId: row.account_id,
      ...{ release: row.release, image: row.image },
      ...(row.image_digest === null ? {} : { imageDigest: row.image_digest }),
      ...sealedOf(row),
    }));
  }
}

const sealedOf = ({
  account_id: accountId,
  registry_id: id,
  sealed_credentials: sealedCredentials,
}: Row): Pick<StoredWantedImage, 'sealedRegistry'> =>
  id === null || sealedCredentials === null ? {} : { sealedRegistry: { accountId, id, sealedCredentials } };
