import type { EntityManager } from 'typeorm';
import type { DesiredWorker } from '@berth/contracts';
import {
  workerSlots,
  type AccountId,
  type EndpointId,
  type EndpointType,
  type HostId,
  type Inventory,
  type ObservedWorker,
  type Scaling,
  type WorkerId,
} from '@berth/domain';
import type { SealedRegistry } from '../registries/index.js';
import { endRunsBeforeRestart, endRunsOfHost, noteRuns } from '../usage/index.js';
import { type Database, HostEntity, type StoredContainer, type WorkerEntity } from '../persistence/index.js';
import { runChanges, type ChangedRow } from './run-changes.js';
import { takeReport, type HostReport } from './take-report.js';

export interface Joining {
  /** Lower-case hex SHA-256. */
  readonly secretHash: string;
  readonly inventory: Inventory;
  readonly nowMs: number;
}

/** The worth of a one-time token. */
export type TokenState = 'unknown' | 'used' | 'expired' | 'good';

export interface HostRow {
  readonly secretHash: string | null;
  readonly dataCenterId: string;
  /** Start of the agent that reported last; null before the first report. */
  readonly instanceId: string | null;
  /** Of the newest report of that start. */
  readonly reportSequence: number;
}

/** A worker that a host shall have, with its environment variables and the credentials of its image still sealed. */
export interface StoredDesiredWorker extends Omit<DesiredWorker, 'container'> {
  readonly accountId: AccountId;
  readonly container: StoredContainer;
  readonly sealedRegistry?: SealedRegistry;
}

interface DesiredRow extends Pick<WorkerEntity, 'id' | 'release' | 'intent' | 'resources' | 'restarts'> {
  readonly endpoint_id: string;
  readonly container: StoredContainer;
  readonly type: EndpointType;
  readonly scaling: Scaling;
  readonly execution_timeout_ms: number;
  readonly account_id: string;
  readonly registry_id: string | null;
  readonly sealed_credentials: string | null;
  readonly leaves_after_idle_ms: number | null;
  readonly image_digest: string | null;
  readonly volume_id: string | null;
  readonly size_gb: number | null;
}

/** Rows behind the sessions of agents. Only reports write `observed`, `inventory` and `last_seen_at`. */
export class HostSessionsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async find(hostId: HostId): Promise<HostRow | null> {
    return this.#database.read((manager) =>
      manager.findOne(HostEntity, {
        where: { id: hostId },
        select: { secretHash: true, dataCenterId: true, instanceId: true, reportSequence: true },
      }),
    );
  }

  /** Those of the names given that were hosts and have been removed. Other users of the broker are none of ours. */
  async removed(names: readonly HostId[]): Promise<readonly HostId[]> {
    const rows = await this.#database.read((manager) =>
      manager.query<{ readonly id: HostId }[]>(
        `SELECT DISTINCT a.resource_id AS id FROM audit_entries a
          WHERE a.resource_id = ANY($1) AND a.action = 'host.deleted'
            AND NOT EXISTS (SELECT 1 FROM hosts h WHERE h.id = a.resource_id)`,
        [names],
      ),
    );
    return rows.map(({ id }) => id);
  }

  /** `good`: it is this host's, unused, and in time. Only who has the whole token hears more than `unknown`. */
  async tokenState(hostId: HostId, tokenHash: string, nowMs: number): Promise<TokenState> {
    const [state] = await this.#database.read((manager) =>
      manager.query<{ state: TokenState }[]>(
        `SELECT CASE WHEN used_at IS NOT NULL THEN 'used' WHEN expires_at <= $3 THEN 'expired' ELSE 'good' END AS state
           FROM join_tokens WHERE host_id = $1 AND hash = $2`,
        [hostId, tokenHash, new Date(nowMs)],
      ),
    );
    return state?.state ?? 'unknown';
  }

  /**
   * Uses the token up and takes the secret of the joining agent: of two agents with one token only one joins. A repeat
   * by the same agent is the same success, also while its first try is still on its way. Returns whether it joined.
   */
  join(hostId: HostId, tokenHash: string, joining: Joining): Promise<boolean> {
    const { inventory, nowMs, secretHash } = joining;
    const now = new Date(nowMs);
    return this.#database.transaction(async (manager) => {
      const [found] = await manager.query<{ is_good: boolean; secret_hash: string | null }[]>(
        `SELECT t.used_at IS NULL AND t.expires_at > $3 AS is_good, h.secret_hash
           FROM join_tokens t JOIN hosts h ON h.id = t.host_id
          WHERE t.host_id = $1 AND t.hash = $2 FOR UPDATE OF t, h`,
        [hostId, tokenHash, now],
      );
      if (found === undefined || !(found.is_good || found.secret_hash === secretHash)) return false;
      await manager.query(`UPDATE join_tokens SET used_at = COALESCE(used_at, $2) WHERE host_id = $1`, [hostId, now]);
      await endRunsOfHost(manager, hostId);
      await manager.update(HostEntity, { id: hostId }, { secretHash, inventory, lastSeenAt: now });
      return true;
    });
  }

  /**
   * Takes a report unless a newer one of the same start was taken. `changed`: the loops may decide differently now,
   * because a worker, the inventory, or whether the host is there at all is not what it was.
   */
  record(report: HostReport): Promise<'changed' | 'same' | 'outdated'> {
    return this.#database.transaction(async (manager) => {
      const taken = await takeReport(manager, report);
      if (taken === null) return 'outdated';
      const { hostId, workers } = report;
      if (taken.isRestart) await endRunsBeforeRestart(manager, { hostId, workers, lastHeardAtMs: taken.previousAtMs });
      const [changed] = await manager.query<[ChangedRow[], number]>(
        `UPDATE workers w SET observed = n.value
           FROM (SELECT known.id, CASE
                          WHEN known.observed->'lastJobEndedAtMs' = o.value->'lastJobEndedAtMs'
                          THEN o.value || jsonb_strip_nulls(jsonb_build_object('idleSinceMs', known.observed->'idleSinceMs'))
                          ELSE o.value END AS value,
                        known.observed AS before
                   FROM jsonb_array_elements($2::jsonb) AS o(value)
                   JOIN workers known ON known.host_id = $1 AND known.id = o.value->>'workerId') n
          WHERE w.id = n.id AND w.observed IS DISTINCT FROM n.value
          RETURNING w.id, w.created_at, n.before`,
        [report.hostId, JSON.stringify(report.workers.map((worker) => onOwnClock(worker, report)))],
      );
      if (changed.length > 0) await takeDigests(manager, report);
      await noteRuns(manager, runChanges(report, changed, taken.previousAtMs));
      return taken.isNews || changed.length > 0 ? 'changed' : 'same';
    });
  }

  /** Those of the endpoints that are no more. */
  async deletedOf(endpointIds: readonly EndpointId[]): Promise<readonly EndpointId[]> {
    if (endpointIds.length === 0) return [];
    const rows = await this.#database.read((manager) =>
      manager.query<{ readonly id: EndpointId }[]>(
        `SELECT n.id FROM unnest($1::text[]) AS n(id)
          WHERE NOT EXISTS (SELECT 1 FROM endpoints e WHERE e.id = n.id AND e.deleted_at IS NULL)`,
        [endpointIds],
      ),
    );
    return rows.map(({ id }) => id);
  }

  /** Every worker that the host shall have. One that cannot pause a worker, although that was so once, lets it go. */
  async desired(hostId: HostId): Promise<readonly StoredDesiredWorker[]> {
    const rows = await this.#database.read((manager) =>
      manager.query<DesiredRow[]>(
        `SELECT w.id, w.endpoint_id, w.release, w.resources, w.restarts, w.leaves_after_idle_ms,
                CASE WHEN w.intent = 'paused' AND h.inventory->>'canPause' IS DISTINCT FROM 'true' THEN 'drained'
                     ELSE w.intent END AS intent,
                COALESCE(r.container, e.spec->'container') AS container,
                e.spec->>'type' AS type, (e.spec->>'executionTimeoutMs')::integer AS execution_timeout_ms,
                e.spec->'scaling' AS scaling,
                e.account_id, g.id AS registry_id, g.sealed_credentials, r.image_digest,
                v.id AS volume_id, v.size_gb
           FROM workers w
           JOIN endpoints e ON e.id = w.endpoint_id
           JOIN hosts h ON h.id = w.host_id
           LEFT JOIN releases r ON r.endpoint_id = w.endpoint_id AND r.release = w.release
           LEFT JOIN registries g ON g.account_id = e.account_id AND w.intent = 'running'
                 AND g.id = COALESCE(r.container, e.spec->'container')->>'registryId'
           LEFT JOIN network_volumes v ON v.id = w.volume_id AND v.account_id = e.account_id
          WHERE w.host_id = $1 ORDER BY w.created_at, w.id`,
        [hostId],
      ),
    );
    return rows.map((row) => ({
      workerId: row.id as WorkerId,
      accountId: row.account_id as AccountId,
      endpointId: row.endpoint_id as EndpointId,
      release: row.release,
      intent: row.intent,
      container: row.container,
      resources: row.resources,
      endpointType: row.type,
      executionTimeoutMs: row.execution_timeout_ms,
      restarts: row.restarts,
      ...(row.image_digest === null ? {} : { imageDigest: row.image_digest }),
      ...slotsOf(row),
      ...idleTimeOf(row),
      ...sealedRegistryOf(row),
      ...volumeOf(row),
    }));
  }
}

/** The first host that tells what the image of a release stands for tells it for all. */
async function takeDigests(manager: EntityManager, { hostId, workers }: HostReport): Promise<void> {
  const told = workers.filter(({ imageDigest }) => imageDigest !== undefined);
  if (told.length === 0) return;
  await manager.query(
    `UPDATE releases r SET image_digest = t.digest
       FROM (SELECT DISTINCT ON (w.endpoint_id, w.release) w.endpoint_id, w.release, n.digest
               FROM unnest($2::text[], $3::text[]) AS n(id, digest)
               JOIN workers w ON w.host_id = $1 AND w.id = n.id ORDER BY w.endpoint_id, w.release, w.created_at) t
      WHERE r.endpoint_id = t.endpoint_id AND r.release = t.release AND r.image_digest IS NULL`,
    [hostId, told.map(({ workerId }) => workerId), told.map(({ imageDigest }) => imageDigest)],
  );
}

/** As many as routers are told in the assignment. */
function slotsOf(row: DesiredRow): Pick<StoredDesiredWorker, 'slots'> {
  const slots = workerSlots(row);
  return slots === null ? {} : { slots };
}

const idleTimeOf = ({ intent, leaves_after_idle_ms: ms }: DesiredRow): Pick<StoredDesiredWorker, IdleTimes> => {
  if (ms === null) return {};
  return intent === 'paused' ? { pausesAfterIdleMs: ms } : { leavesAfterIdleMs: ms };
};

type IdleTimes = 'leavesAfterIdleMs' | 'pausesAfterIdleMs';

/** Clocks of hosts differ, so what is believed is how long ago it was; the same end keeps the instant that it was given first. */
function onOwnClock(worker: ObservedWorker, { receivedAtMs, sentAtMs }: HostReport): ObservedWorker {
  const { lastJobEndedAtMs } = worker;
  if (lastJobEndedAtMs === undefined || sentAtMs === undefined) return worker;
  // No job has ended after it was told: a clock that steps, or lies, must not keep a worker for a year.
  return { ...worker, idleSinceMs: receivedAtMs - Math.max(0, sentAtMs - lastJobEndedAtMs) };
}

const volumeOf = ({
  account_id: accountId,
  size_gb: sizeGb,
  volume_id: id,
}: DesiredRow): Pick<DesiredWorker, 'volume'> =>
  id === null || sizeGb === null ? {} : { volume: { id, accountId, sizeGb } };

const sealedRegistryOf = ({
  account_id: accountId,
  registry_id: id,
  sealed_credentials: sealedCredentials,
}: DesiredRow): Pick<StoredDesiredWorker, 'sealedRegistry'> =>
  id === null || sealedCredentials === null
    ? {}
    : { sealedRegistry: { accountId: accountId as AccountId, id, sealedCredentials } };
