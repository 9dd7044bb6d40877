import {
  type Database,
  HostEntity,
  type HostRecord,
  JoinTokenEntity,
  toHostRecord,
  toWorker,
  WorkerEntity,
} from '../persistence/index.js';
import { endRunsOfHost } from '../usage/index.js';
import { HOST_PLACEABLE_MS, isHostOfNode, type HostId, type HostIntent, type Worker } from '@berth/domain';
import type { EntityManager } from 'typeorm';

export interface NewHost {
  readonly host: HostRecord;
  /** Lower-case hex SHA-256 of its one-time token. */
  readonly tokenHash: string;
  readonly tokenExpiresAtMs: number;
}

/** `live`: it is there with another secret, and nobody takes its place. `removed`: an operator took it away. */
export type NodeInvitation = 'invited' | 'live' | 'removed';

export class HostsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  insert({ host, tokenExpiresAtMs, tokenHash }: NewHost): Promise<void> {
    return this.#database.transaction(async (manager) => {
      await insertUnlessThere(manager, host);
      const expiresAt = new Date(tokenExpiresAtMs);
      await manager.insert(JoinTokenEntity, { hostId: host.id, hash: tokenHash, expiresAt, usedAt: null });
    });
  }

  /**
   * Makes the host of a node, or finds it again, and lets it join with this token. The same token again changes nothing,
   * so that it is good once only.
   */
  inviteNode({ host, tokenExpiresAtMs, tokenHash }: NewHost): Promise<NodeInvitation> {
    const liveSince = new Date(host.createdAtMs - HOST_PLACEABLE_MS);
    return this.#database.transaction(async (manager) => {
      await insertUnlessThere(manager, host);
      // The row is locked before the removal is looked for: one that is under way is waited for, and seen.
      const [row] = await manager.query<{ is_live: boolean }[]>(
        `SELECT secret_hash IS NOT NULL AND last_seen_at > $2 IS TRUE AS is_live FROM hosts WHERE id = $1 FOR UPDATE`,
        [host.id, liveSince],
      );
      const [gone] = await manager.query<object[]>('SELECT 1 FROM removed_nodes WHERE host_id = $1', [host.id]);
      if (gone !== undefined) {
        await manager.delete(HostEntity, { id: host.id });
        return 'removed';
      }
      if (row?.is_live === true) return 'live';
      await manager.query(
        `INSERT INTO join_tokens AS t (host_id, hash, expires_at) VALUES ($1, $2, $3)
         ON CONFLICT (host_id) DO UPDATE SET hash = EXCLUDED.hash, expires_at = EXCLUDED.expires_at, used_at = NULL
           WHERE t.hash <> EXCLUDED.hash`,
        [host.id, tokenHash, new Date(tokenExpiresAtMs)],
      );
      return 'invited';
    });
  }

  /** Lets the node of a removed host join again; its host is as new. Null: no such host was removed. */
  readmitNode(id: HostId, nowMs: number): Promise<HostRecord | null> {
    return this.#database.transaction(async (manager) => {
      const [rows] = await manager.query<[{ name: string; data_center_id: string }[], number]>(
        'DELETE FROM removed_nodes WHERE host_id = $1 RETURNING name, data_center_id',
        [id],
      );
      const [gone] = rows;
      if (gone === undefined) return null;
      const { data_center_id: dataCenterId, name } = gone;
      const host = newHost({ id, name, dataCenterId, labels: {}, createdAtMs: nowMs });
      await insertUnlessThere(manager, host);
      return host;
    });
  }

  /**
   * Forgets hosts of nodes that nobody has heard of for a day, of which nothing is left: a cluster that grows and shrinks
   * would leave one for each node that it ever had. One that comes back joins again. Returns their number.
   */
  async forgetNodes(nowMs: number): Promise<number> {
    const [, count] = await this.#database.read((manager) =>
      manager.query<[unknown[], number]>(FORGET_NODES, [new Date(nowMs - NODE_FORGOTTEN_MS)]),
    );
    return count;
  }

  async list(): Promise<readonly HostRecord[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(HostEntity, { order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toHostRecord);
  }

  async find(id: HostId): Promise<HostRecord | null> {
    const row = await this.#database.read((manager) => manager.findOneBy(HostEntity, { id }));
    return row === null ? null : toHostRecord(row);
  }

  async workersOf(id: HostId): Promise<readonly Worker[]> {
    const rows = await this.#database.read((manager) =>
      manager.find(WorkerEntity, { where: { hostId: id }, order: { createdAt: 'ASC', id: 'ASC' } }),
    );
    return rows.map(toWorker);
  }

  /** Of all hosts: those whose last start failed, or that were moved from where they failed. */
  async failingWorkers(): Promise<readonly Worker[]> {
    const rows = await this.#database.read((manager) =>
      manager
        .createQueryBuilder(WorkerEntity, 'w')
        .where(`(w.observed->>'failedStarts')::integer > 0 OR w.failedOn <> '{}'`)
        .getMany(),
    );
    return rows.map(toWorker);
  }

  /** The host after the change, or null when there is none. */
  setIntent(id: HostId, intent: HostIntent): Promise<HostRecord | null> {
    return this.#database.transaction(async (manager) => {
      const row = await manager.findOne(HostEntity, { where: { id }, lock: { mode: 'pessimistic_write' } });
      if (row === null) return null;
      await manager.update(HostEntity, { id }, { intent });
      return toHostRecord({ ...row, intent });
    });
  }

  /**
   * Removes the host with its workers, whose use of it ends. That of a node is remembered, because its agent could join
   * again by itself. Returns whether it was there.
   */
  delete(id: HostId, nowMs: number): Promise<boolean> {
    return this.#database.transaction(async (manager) => {
      await endRunsOfHost(manager, id);
      if (isHostOfNode(id)) await manager.query(REMEMBER, [id, new Date(nowMs)]);
      const { affected } = await manager.delete(HostEntity, { id });
      return (affected ?? 0) > 0;
    });
  }
}

const NODE_FORGOTTEN_MS = 24 * 3_600_000;

/** Not those of which an operator has said something: it would be lost. */
const FORGET_NODES = `DELETE FROM hosts WHERE id IN (
  SELECT id FROM hosts h WHERE id LIKE 'node-%' AND intent = 'ready' AND COALESCE(last_seen_at, created_at) < $1
     AND NOT EXISTS (SELECT 1 FROM workers w WHERE w.host_id = h.id)
   LIMIT 100 FOR UPDATE SKIP LOCKED)`;

const REMEMBER = `INSERT INTO removed_nodes (host_id, name, data_center_id, removed_at)
  SELECT id, name, data_center_id, $2 FROM hosts WHERE id = $1 ON CONFLICT (host_id) DO NOTHING`;

/** One that nobody has heard of yet. */
export const newHost = (
  facts: Pick<HostRecord, 'id' | 'name' | 'dataCenterId' | 'labels' | 'createdAtMs'>,
): HostRecord => ({ ...facts, intent: 'ready', inventory: null, lastSeenAtMs: null });

async function insertUnlessThere(manager: EntityManager, host: HostRecord): Promise<void> {
  const { createdAtMs, dataCenterId, id, intent, labels, name } = host;
  await manager
    .createQueryBuilder()
    .insert()
    .into(HostEntity)
    .values({ id, name, dataCenterId, labels, intent, createdAt: new Date(createdAtMs) })
    .orIgnore()
    .execute();
}
