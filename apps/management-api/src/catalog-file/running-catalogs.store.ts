import type { Database } from '../persistence/index.js';

/** With which catalog one process runs. */
export interface RunningCatalog {
  /** Unique to the process. */
  readonly process: string;
  readonly app: string;
  /** As `catalogDigest` has it. */
  readonly digest: string;
  /** Null: the shipped catalog. */
  readonly file: string | null;
}

/** Others that are told of at most: more say nothing new. */
const OTHERS_MAX = 20;

const EXCHANGE = `
  WITH said AS (INSERT INTO running_catalogs (process, app, digest, file) VALUES ($1, $2, $3, $4)
                  ON CONFLICT (process) DO UPDATE SET said_at = now()),
       gone AS (DELETE FROM running_catalogs WHERE process <> $1 AND said_at < now() - make_interval(secs => $5))
  SELECT process, app, digest, file FROM running_catalogs
   WHERE process <> $1 AND digest <> $3 AND said_at >= now() - make_interval(secs => $5)
   ORDER BY process LIMIT $6`;

/** One row of each process, written by itself. Those that have said nothing for a while run no more, and are forgotten. */
export class RunningCatalogsStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Says that the process runs, and returns others that run with another catalog: of those that said so within `freshMs`. */
  exchange({ app, digest, file, process }: RunningCatalog, freshMs: number): Promise<readonly RunningCatalog[]> {
    return this.#database.read((manager) =>
      manager.query<RunningCatalog[]>(EXCHANGE, [process, app, digest, file, freshMs / 1_000, OTHERS_MAX]),
    );
  }

  async forget(process: string): Promise<void> {
    await this.#database.read((manager) => manager.query('DELETE FROM running_catalogs WHERE process = $1', [process]));
  }
}
