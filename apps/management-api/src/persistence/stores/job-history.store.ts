import { QueryFailedError, type EntityManager } from 'typeorm';
import {
  isEnded,
  type EndpointId,
  type HistoryChanges,
  type HistoryRow,
  type JobDetail,
  type JobKey,
  type JobSummary,
} from '@berth/domain';
import {
  RefusedRowError,
  type HistoryKey,
  type HistoryProgress,
  type HistoryQuery,
  type HistoryReader,
  type ProjectedHistory,
  type ProjectionOutcome,
  type RecordVersion,
} from '../../job-history/job-history-records.port.js';
import type { Database } from '../database.js';
import { detailOf, givenRow, summaryOf, type DetailRow, type SummaryRow } from '../job-history-rows.js';
import { ADVANCE, FIND, HOLD, LIST, MISSING, ORPHANS, REMOVE, STREAM, WRITE } from '../job-history-statements.js';

/** Rows of the history: written by the projector, read by whoever asks for an account's jobs. */
export class JobHistoryStore implements ProjectedHistory, HistoryReader {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async progress(): Promise<HistoryProgress | null> {
    const [row] = await this.#database.read((manager) =>
      manager.query<{ sequence: string | null; stored_at: string; complete_until: Date }[]>(
        `SELECT sequence, stored_at, complete_until FROM job_history_position WHERE stream = $1`,
        [STREAM],
      ),
    );
    if (row === undefined) return null;
    const { complete_until, sequence, stored_at: storedAt } = row;
    return {
      position: sequence === null ? null : { sequence: Number(sequence), storedAt },
      completeUntilMs: complete_until.getTime(),
    };
  }

  async project(
    { removed, rows }: HistoryChanges,
    progress: HistoryProgress | null,
    term: { readonly name: string; readonly number: number },
  ): Promise<ProjectionOutcome | null> {
    try {
      return await this.#database.transaction(async (manager) => {
        const written = await writeRows(manager, rows);
        const gone = await removeRows(manager, removed);
        if (!(await advance(manager, progress, term))) throw new TermOver();
        return { ...written, removed: gone };
      });
    } catch (error) {
      if (error instanceof TermOver) return null;
      throw isRefusal(error) ? new RefusedRowError(error) : error;
    }
  }

  async missing(versions: readonly RecordVersion[]): Promise<readonly RecordVersion[]> {
    const rows = await this.#database.read((manager) =>
      manager.query<{ ordinal: number }[]>(MISSING, [
        versions.map(({ endpointId }) => endpointId),
        versions.map(({ jobId }) => jobId),
        versions.map(({ createdAtMs }) => new Date(createdAtMs)),
        versions.map(({ attempt }) => attempt),
        versions.map(({ recordSequence }) => recordSequence),
      ]),
    );
    return rows.flatMap(({ ordinal }) => versions[ordinal - 1] ?? []);
  }

  async unended(limit: number): Promise<readonly (JobKey & { readonly recordSequence: number })[]> {
    const rows = await this.#database.read((manager) =>
      manager.query<{ endpoint_id: string; job_id: string; record_sequence: string }[]>(
        `SELECT endpoint_id, job_id, record_sequence FROM job_history WHERE ended_at IS NULL LIMIT $1`,
        [limit],
      ),
    );
    return rows.map(({ endpoint_id, job_id, record_sequence }) => ({
      endpointId: endpoint_id as EndpointId,
      jobId: job_id as JobKey['jobId'],
      recordSequence: Number(record_sequence),
    }));
  }

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
    return rows.map(summaryOf);
  }

  async find({ accountId, endpointId, jobId }: HistoryKey): Promise<JobDetail | null> {
    const [row] = await this.#database.read((manager) =>
      manager.query<DetailRow[]>(FIND, [accountId, endpointId, jobId]),
    );
    return row === undefined ? null : detailOf(row);
  }
}

class TermOver extends Error {}

/** Classes of SQLSTATE that speak of values: data, integrity, and what is too large for an index. */
const REFUSAL = /^(22|23|54)/;

const isRefusal = (error: unknown): boolean =>
  // An instant that is no date does not even get as far as the database.
  error instanceof RangeError ||
  (error instanceof QueryFailedError && REFUSAL.test(String((error.driverError as { readonly code?: string }).code)));

async function writeRows(
  manager: EntityManager,
  rows: readonly HistoryRow[],
): Promise<Omit<ProjectionOutcome, 'removed'>> {
  const none = { written: 0, placeless: 0, ownerless: 0 };
  if (rows.length === 0) return none;
  const [counts = none] = await manager.query<(typeof none)[]>(WRITE, [JSON.stringify(rows.map(givenRow))]);
  return counts;
}

async function removeRows(manager: EntityManager, removed: HistoryChanges['removed']): Promise<number> {
  if (removed.length === 0) return 0;
  const [, count] = await manager.query<[unknown, number]>(REMOVE, [
    removed.map(({ endpointId }) => endpointId),
    removed.map(({ jobId }) => jobId),
    removed.map(({ recordSequence }) => recordSequence),
  ]);
  return count;
}

async function advance(
  manager: EntityManager,
  progress: HistoryProgress | null,
  { name, number }: { readonly name: string; readonly number: number },
): Promise<boolean> {
  if (progress === null) return (await manager.query<unknown[]>(HOLD, [name, number])).length > 0;
  const { completeUntilMs, position } = progress;
  const place = [position?.sequence ?? null, position?.storedAt ?? null, new Date(completeUntilMs)];
  return (await manager.query<unknown[]>(ADVANCE, [name, number, ...place])).length > 0;
}
