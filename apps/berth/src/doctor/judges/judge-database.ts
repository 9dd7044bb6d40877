import type { ConnectionFailure, SealingKeys } from '../../connections/index.js';
import { well, wrong, someOf, type Finding } from '../finding.js';
import { judgeFailure } from './judge-failure.js';
import { judgeCertificate, judgeClock } from './judge-shared.js';

/** What PostgreSQL says of itself. */
export interface DatabaseFacts {
  readonly isEncrypted: boolean;
  /** As `server_version_num`: 180006 is 18.6. */
  readonly version: number;
  /** Names of the migrations that have run; null: nobody has ever migrated it. */
  readonly migrations: readonly string[] | null;
  /** Tables that this user may not read and write. */
  readonly forbiddenTables: readonly string[];
  readonly connections: { readonly used: number; readonly max: number };
  readonly sizeBytes: number;
  readonly clockOffsetMs: number;
  readonly certificateUntilMs: number | null;
  /** Null: they could not be counted. */
  readonly sealingKeys: SealingKeys | null;
}

const TARGET = { area: 'database', what: 'PostgreSQL', setting: 'BERTH_DATABASE_URL' } as const;
/** The oldest that Berth is tested with. */
const MAJOR_MIN = 18;
const FREE_CONNECTIONS_MIN = 10;
const MIB = 1_024 ** 2;

/** By SQLSTATE. */
const REFUSALS: Readonly<Record<string, readonly [says: string, mend: string]>> = {
  '28P01': ['it refuses the password', 'BERTH_DATABASE_URL must have the password that env/postgres.env set up'],
  '28000': ['it refuses this user, or this way to it', 'look at pg_hba.conf, and at the user in BERTH_DATABASE_URL'],
  '3D000': ['the database is not there', 'create it, or name another one in BERTH_DATABASE_URL'],
  '53300': ['it has no connection left', 'raise max_connections, or end what holds connections'],
  '57P03': ['it is starting', 'wait, then look again; its log says why it takes long'],
};

export function judgeDatabaseFailure(failure: ConnectionFailure): readonly Finding[] {
  const [says, mend] = REFUSALS[failure.code ?? ''] ?? [];
  if (says !== undefined && mend !== undefined) return [wrong('database', `PostgreSQL: ${says}`, mend)];
  if (failure.message.includes('does not support SSL')) return [inTheClear];
  return [judgeFailure(TARGET, failure)];
}

const inTheClear = wrong(
  'database',
  'PostgreSQL: it speaks no TLS',
  'ssl = on, with tls/postgres.pem as ssl_cert_file and ssl_key_file; sslmode=verify-full in BERTH_DATABASE_URL',
);

/** @param known names of the migrations of this program, in their order */
export const judgeDatabase = (facts: DatabaseFacts, known: readonly string[], nowMs: number): readonly Finding[] => [
  judgeVersion(facts),
  facts.isEncrypted ? well('database', 'PostgreSQL: reached by TLS') : inTheClear,
  judgeRights(facts),
  judgeConnections(facts),
  well(
    'database',
    `the database takes ${(facts.sizeBytes / MIB).toFixed(1)} MiB; what its disk has free it does not say`,
  ),
  judgeSealingKeys(facts.sealingKeys),
  judgeMigrations(facts.migrations, known),
  judgeClock("PostgreSQL's clock", facts.clockOffsetMs),
  ...judgeCertificate('PostgreSQL', facts.certificateUntilMs, nowMs),
];

function judgeVersion({ version }: DatabaseFacts): Finding {
  const major = Math.floor(version / 10_000);
  const says = `PostgreSQL ${String(major)}.${String(version % 10_000)}`;
  if (major >= MAJOR_MIN) return well('database', says);
  return wrong('database', says, `Berth is tested with ${String(MAJOR_MIN)} and newer: upgrade it (pg_upgrade)`);
}

function judgeRights({ forbiddenTables }: DatabaseFacts): Finding {
  if (forbiddenTables.length === 0) return well('database', 'its user may read and write every table');
  return wrong(
    'database',
    `its user may not read and write ${someOf(forbiddenTables)}`,
    'let the user in BERTH_DATABASE_URL be the owner of the tables, as it is of those that it made',
  );
}

function judgeConnections({ connections: { max, used } }: DatabaseFacts): Finding {
  const says = `${String(used)} of ${String(max)} connections are used`;
  if (max - used >= FREE_CONNECTIONS_MIN) return well('database', says);
  return wrong('database', says, 'raise max_connections, or end what holds connections (pg_stat_activity)');
}

/** Several are as it should be while one is being replaced: what they are is for who wants to retire one. */
function judgeSealingKeys(keys: SealingKeys | null): Finding {
  if (keys === null) return well('database', NOT_COUNTED);
  const told = [...keys].map(([key, secrets]) => `${key}: ${String(secrets)}`).join(', ');
  if (keys.size <= 1) return well('database', `its secrets are sealed with one key (${told || 'there are none'})`);
  return well('database', `its secrets are sealed with ${String(keys.size)} keys (${told}): too early to retire one`);
}

const NOT_COUNTED =
  'with how many keys its secrets are sealed was not found out: berth_management_sealed_with_old_keys of each management API says it';

function judgeMigrations(done: readonly string[] | null, known: readonly string[]): Finding {
  if (done === null) {
    return wrong('migrations', 'the database has no tables of ours', 'run the migration with env/migrate.env');
  }
  const missing = known.filter((name) => !done.includes(name));
  const foreign = done.filter((name) => !known.includes(name));
  if (foreign.length > 0) {
    return wrong(
      'migrations',
      `the database is ahead of this program: ${someOf(foreign)}`,
      'use the `berth` of the version that runs; do not start older processes',
    );
  }
  if (missing.length === 0) return well('migrations', `all ${String(known.length)} migrations have run`);
  return wrong(
    'migrations',
    `the database is behind this program: ${someOf(missing)} did not run`,
    'run the migration of this version with env/migrate.env, before its processes',
  );
}
