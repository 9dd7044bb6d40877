import {
  type AccountId,
  type EndpointId,
  type HistoryRow,
  isEnded,
  type JobDetail,
  type JobKey,
  type JobState,
  type JobSummary,
  type PageKey,
  type RowPlace,
} from '@berth/domain';
import type { LogPosition } from '@berth/contracts';
import type { EntityManager } from 'typeorm';
import {
  type ProjectedHistory,
  type ShardMove,
  type ShardProgress,
  type WriteOutcome,
} from './projected-history.port.js';
import type { Database } from '../persistence/index.js';
import { RefusedRowError, isRefusal } from './refused-row-error.js';
import {
  detailOfRow,
  givenRow,
  knownRowOf,
  summaryOfRow,
  type DetailRow,
  type KnownRow,
  type SummaryRow,
} from './job-history-rows.js';
import {
  BEGIN_SHARD,
  COMPLETE_UNTIL,
  CONFIRM_SHARDS,
  FIND,
  KNOWN,
  LIST,
  MOVE_SHARD,
  ORPHANS,
  PROGRESS,
  WRITE,
} from './job-history-statements.js';

export interface HistoryQuery {
  readonly accountId: AccountId;
  readonly endpointId: EndpointId;
  readonly statuses: readonly JobState[];
  /** Below this job; null: from the latest on. */
  readonly before: PageKey | null;
  readonly limit: number;
}

/** One job of an account. */
export interface HistoryKey extends JobKey {
  readonly accountId: AccountId;
}

/**
 * Rows of the history, and how far the logs behind them have been read: written by the projector, read for the
 * routers' questions about an account's jobs.
 */
export class JobHistoryStore implements ProjectedHistory {
  readonly #database: Database;
  readonly #shardOf: (endpointId: EndpointId) => number;

  /** @param shardOf where an endpoint has its log */
  constructor(database: Database, shardOf: (endpointId: EndpointId) => number) {
    this.#database = database;
    this.#shardOf = shardOf;
  }

  async progress(): Promise<ReadonlyMap<number, ShardProgress>> {
    const rows = await this.#database.read((manager) => manager.query<ShardRow[]>(PROGRESS));
    return new Map(rows.map((row) => [row.shard, progressOf(row)]));
  }

  /** Up to when the history is whole, as far as the endpoint goes. Unix ms; null: it never was. */
  async completeUntilMs(endpointId: EndpointId): Promise<number | null> {
    const [row] = await this.#database.read((manager) =>
      manager.query<Pick<ShardRow, 'complete_until'>[]>(COMPLETE_UNTIL, [this.#shardOf(endpointId)]),
    );
    return row?.complete_until?.getTime() ?? null;
  }

  async begin(shard: number, { sequence, streamCreated }: LogPosition): Promise<boolean> {
    const begun = await this.#database.transaction((manager) =>
      manager.query<unknown[]>(BEGIN_SHARD, [shard, streamCreated, sequence]),
    );
    return begun.length > 0;
  }

  async known(places: readonly RowPlace[]): Promise<readonly HistoryRow[]> {
    if (places.length === 0) return [];
    const rows = await this.#database.read((manager) =>
      manager.query<KnownRow[]>(KNOWN, [
        places.map(({ endpointId }) => endpointId),
        places.map(({ jobId }) => jobId),
        places.map(({ createdAtMs }) => new Date(createdAtMs)),
      ]),
    );
    return rows.map(knownRowOf);
  }

  async write(rows: readonly HistoryRow[], move: ShardMove): Promise<WriteOutcome | null> {
    try {
      return await this.#database.transaction(async (manager) => {
        if (!(await moveShard(manager, move))) throw new ShardMoved();
        return writeRows(manager, rows);
      });
    } catch (error) {
      if (error instanceof ShardMoved) return null;
      throw isRefusal(error) ? new RefusedRowError(error) : error;
    }
  }

  async confirm(shards: ReadonlyMap<number, ShardProgress>): Promise<void> {
    const all = [...shards.values()];
    await this.#database.transaction((manager) =>
      manager.query(CONFIRM_SHARDS, [
        [...shards.keys()],
        all.map(({ position }) => position.streamCreated),
        all.map(({ position }) => position.sequence),
        all.map(({ completeUntilMs }) => instant(completeUntilMs)),
      ]),
    );
  }

  /** Removes at most `max` rows of endpoints that were deleted; returns how many there were. */
  async removeOrphans(max: number): Promise<number> {
    return this.#database.transaction(async (manager) => {
      const orphans = await manager.query<{ place: string; spot: string }[]>(ORPHANS, [max]);
      for (const [place, rows] of Map.groupBy(orphans, (row) => row.place)) {
        await manager.query(`DELETE FROM ${place} WHERE ctid = ANY ($1::tid[])`, [rows.map(({ spot }) => spot)]);
      }
      return orphans.length;
    });
  }

  async list({ accountId, before, endpointId, limit, statuses }: HistoryQuery): Promise<readonly JobSummary[]> {
    const ended = statuses.filter(isEnded);
    const [at, id] = before === null ? ['infinity', ''] : [new Date(before.createdAtMs), before.jobId];
    const rows = await this.#database.read((manager) =>
      manager.query<SummaryRow[]>(LIST, [accountId, endpointId, ended, at, id, limit]),
    );
    return rows.map(summaryOfRow);
  }

  async find({ accountId, endpointId, jobId }: HistoryKey): Promise<JobDetail | null> {
    const [row] = await this.#database.read((manager) =>
      manager.query<DetailRow[]>(FIND, [accountId, endpointId, jobId]),
    );
    return row === undefined ? null : detailOfRow(row);
  }
}

interface ShardRow {
  readonly shard: number;
  readonly stream_created: string;
  /** Wider than a number, so the driver gives text. */
  readonly sequence: string;
  readonly complete_until: Date | null;
}

const progressOf = ({ complete_until, sequence, stream_created: streamCreated }: ShardRow): ShardProgress => ({
  position: { streamCreated, sequence: Number(sequence) },
  completeUntilMs: complete_until?.getTime() ?? null,
});

/** Another process has read on, so what this one made of the same batches is written already. */
class ShardMoved extends Error {}

async function moveShard(manager: EntityManager, { from, shard, to }: ShardMove): Promise<boolean> {
  const [moved] = await manager.query<[unknown[], number]>(MOVE_SHARD, [
    shard,
    to.position.streamCreated,
    to.position.sequence,
    instant(to.completeUntilMs),
    from.position.streamCreated,
    from.position.sequence,
  ]);
  return moved.length > 0;
}

const instant = (ms: number | null): Date | null => (ms === null ? null : new Date(ms));

async function writeRows(manager: EntityManager, rows: readonly HistoryRow[]): Promise<WriteOutcome> {
  const none = { written: 0, placeless: 0, ownerless: 0 };
  if (rows.length === 0) return none;
  const [counts = none] = await manager.query<WriteOutcome[]>(WRITE, [JSON.stringify(rows.map(givenRow))]);
  return counts;
}
