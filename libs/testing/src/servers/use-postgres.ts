import {
  makeTempFolder,
  startPostgres,
  type CreateDatabaseOptions,
  type PostgresServer,
  type TempFolder,
} from '@berth/servers';
import { afterAll, beforeAll } from '@jest/globals';

/** A PostgreSQL of one spec file, on a free port, with an empty cluster. */
export interface PostgresFixture {
  /** The running server; another object after a restart. */
  readonly server: PostgresServer;
  /** Makes a database with a name of its own and returns its address. */
  freshDatabase(options?: CreateDatabaseOptions): Promise<string>;
  /** Ends the server (`kill`: by SIGKILL) and starts it again on the same port and data. */
  restart(how?: 'stop' | 'kill'): Promise<void>;
}

const START_TIMEOUT_MS = 240_000;

/** Call once at the top of a spec: starts the server before its first test and removes it after its last. */
export const usePostgres = (): PostgresFixture => {
  const bench = new PostgresBench();
  beforeAll(() => bench.open(), START_TIMEOUT_MS);
  afterAll(() => bench.close(), START_TIMEOUT_MS);
  return bench;
};

class PostgresBench implements PostgresFixture {
  #folder: TempFolder | undefined;
  #server: PostgresServer | undefined;
  #databases = 0;

  get server(): PostgresServer {
    if (this.#server === undefined) throw new Error('The server starts in beforeAll.');
    return this.#server;
  }

  async open(): Promise<void> {
    this.#folder = await makeTempFolder('berth-postgres');
    this.#server = await startPostgres({ dataDir: this.#folder.path });
  }

  async close(): Promise<void> {
    // The data are thrown away, so an orderly end would only cost time.
    await this.#server?.kill();
    await this.#folder?.remove();
  }

  freshDatabase(options?: CreateDatabaseOptions): Promise<string> {
    this.#databases += 1;
    return this.server.createDatabase(`test_${String(this.#databases)}`, options);
  }

  async restart(how: 'stop' | 'kill' = 'stop'): Promise<void> {
    const { port } = this.server;
    await this.server[how]();
    const dataDir = this.#folder?.path;
    if (dataDir === undefined) throw new Error('The folder is made in beforeAll.');
    this.#server = await startPostgres({ dataDir, port });
  }
}
