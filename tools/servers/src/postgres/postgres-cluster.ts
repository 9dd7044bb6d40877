import { randomBytes } from 'node:crypto';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../processes/run-command.js';
import type { PostgresOwner } from './postgres-owner.js';
import type { PostgresPrograms } from './postgres-programs.js';

/** Where one server keeps its things. */
export interface PostgresFolders {
  readonly dataDir: string;
  /** PostgreSQL's own data directory. */
  readonly cluster: string;
  readonly passwordFile: string;
  readonly logFile: string;
  readonly pidFile: string;
}

export const POSTGRES_USER = 'berth';

export const postgresFolders = (dataDir: string): PostgresFolders => ({
  dataDir,
  cluster: join(dataDir, 'cluster'),
  passwordFile: join(dataDir, 'password'),
  logFile: join(dataDir, 'postgres.log'),
  pidFile: join(dataDir, 'postgres.pid'),
});

/** Nothing of the caller's: a `PGDATA` or a locale of the machine must not leak into the server. */
export const POSTGRES_ENVIRONMENT: Readonly<Record<string, string>> = {
  LC_ALL: 'C',
  TZ: 'UTC',
  PATH: '/usr/bin:/bin:/usr/sbin:/sbin',
};

const INIT_MS = 60_000;
const OWNER_ONLY = 0o600;
const PASSWORD_BYTES = 18;

/**
 * Makes the cluster at the first start and returns the password of its superuser.
 * Built beside its place and moved there whole: a start that was interrupted is simply done again.
 */
export const ensureCluster = async (
  folders: PostgresFolders,
  programs: PostgresPrograms,
  owner: PostgresOwner,
): Promise<string> => {
  if (await exists(join(folders.cluster, 'PG_VERSION'))) return readFile(folders.passwordFile, 'utf8');
  const draft = join(folders.dataDir, 'new');
  const cluster = join(draft, 'cluster');
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  await writeFile(folders.passwordFile, password, { mode: OWNER_ONLY });
  await giveTo(owner, [folders.dataDir, draft, folders.passwordFile]);
  const wishes = [
    `--pgdata=${cluster}`,
    `--username=${POSTGRES_USER}`,
    `--pwfile=${folders.passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    '--no-sync',
  ];
  const { executable, args, owner: runsAs } = owner.command(programs.initdb, wishes);
  await runCommand(executable, args, {
    timeoutMs: INIT_MS,
    cwd: draft,
    env: POSTGRES_ENVIRONMENT,
    ...(runsAs && { owner: runsAs }),
  });
  await rename(cluster, folders.cluster);
  await rm(draft, { recursive: true, force: true });
  return password;
};

/** Files written by root that another user must read. */
const giveTo = async (owner: PostgresOwner, paths: readonly string[]): Promise<void> => {
  const { ids } = owner;
  if (ids === undefined) return;
  await Promise.all(paths.map((path) => chown(path, ids.uid, ids.gid)));
};

const exists = async (path: string): Promise<boolean> => {
  try {
    await readFile(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};
