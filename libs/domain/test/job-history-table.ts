import {
  projectFacts,
  rowsBefore,
  type EndpointFacts,
  type HistoryRow,
  type RowPlace,
} from '../src/job-history/index.js';

/** The rows of a history as a database would keep them. */
export class HistoryTable {
  readonly #rows = new Map<string, HistoryRow>();

  /** Takes batches as they come in one page; returns how many rows that changed. */
  take(batches: readonly EndpointFacts[]): number {
    const known = rowsBefore(batches).flatMap((place) => this.#rows.get(keyOf(place)) ?? []);
    const changed = projectFacts(batches, known);
    for (const row of changed) this.#rows.set(keyOf({ endpointId: row.endpointId, ...row.job }), row);
    return changed.length;
  }

  rows(): readonly HistoryRow[] {
    return [...this.#rows.values()];
  }

  /** What lists and look-ups tell: the jobs that have ended. */
  told(): readonly HistoryRow['job'][] {
    return this.rows().flatMap(({ job }) => (job.endedAtMs === null ? [] : [job]));
  }
}

const keyOf = ({ createdAtMs, endpointId, jobId }: RowPlace): string => `${endpointId} ${jobId} ${createdAtMs}`;
