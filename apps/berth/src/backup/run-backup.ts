import { stat } from 'node:fs/promises';
import type { Clock, Random } from '@berth/lifecycle';
import { LOG_FORMAT } from '@berth/messaging';
import { versionOf } from '@berth/telemetry';
import type { BackupConfig } from '../config.js';
import { readSealingKeys } from '../connections/index.js';
import { misuse } from '../program/index.js';
import { ArchiveWriter } from './archive-writer.js';
import { BACKUP_FORMAT, type BackupEnd, type BackupHead } from './backup-format.js';
import { backupPathOf } from './backup-path.js';
import { copyBroker } from './copy-broker.js';
import { beginReading, copyDatabase } from './copy-database.js';
import { openDatabase, readMigrations } from './database-session.js';
import { logInToBroker } from './broker-login.js';
import { keyContext } from './restore-refusals.js';
import { judgeSealing } from './sealing-verdict.js';

export interface BackupTools {
  readonly clock: Clock;
  readonly random: Random;
  /** Told how far it has come. */
  readonly note: (line: string) => void;
}

export interface BackupOutcome {
  readonly path: string;
  readonly head: BackupHead;
  readonly bytes: number;
  readonly rows: number;
  readonly messages: number;
}

/**
 * Writes all state of an installation, which goes on meanwhile, into one file.
 *
 * @param target a new file that ends in `.tar.gz`, or a folder in which the file is named for the time
 */
export async function runBackup(config: BackupConfig, target: string, tools: BackupTools): Promise<BackupOutcome> {
  const startedAtMs = tools.clock.nowMs();
  const path = await backupPathOf(target, startedAtMs);
  const database = await openDatabase(config.databaseUrl, 'berth-backup');
  try {
    const { broker, close } = await logInToBroker(config, { ...tools, role: 'backup' });
    try {
      await beginReading(database);
      const head = headOf(config, { startedAtMs, migrations: await readMigrations(database), random: tools.random });
      await requireOpening(config, database, tools);
      const archive = await ArchiveWriter.create(path, head, tools);
      try {
        const copied = await copyDatabase(database, archive, tools.clock);
        tools.note(`copied the database: ${String(rowsOf(copied))} rows of ${String(copied.tables.length)} tables`);
        const streams = await copyBroker({ ...tools, broker, archive });
        await archive.finish({ ...copied, ...streams });
        return await outcomeOf(path, head, { ...copied, ...streams });
      } catch (error) {
        await archive.discard();
        throw error;
      }
    } finally {
      await close();
    }
  } finally {
    await database.end();
  }
}

/** Found out now and not when there is nothing left but the backup. */
async function requireOpening(
  { secretBox }: BackupConfig,
  database: Parameters<typeof readSealingKeys>[0],
  { note }: BackupTools,
): Promise<void> {
  const verdict = judgeSealing(await readSealingKeys(database), secretBox.keyIds);
  if (verdict.kind === 'refused') throw verdict.refusal;
  if (verdict.kind === 'partly') note(verdict.note);
}

function headOf(
  { secretBox }: BackupConfig,
  about: {
    readonly startedAtMs: number;
    readonly migrations: readonly string[] | null;
    readonly random: Random;
  },
): BackupHead {
  const { migrations, random, startedAtMs } = about;
  if (migrations === null) throw misuse('The database has no tables.', 'Does BERTH_DATABASE_URL name the right one?');
  const id = random.uuid();
  return {
    ...{ format: BACKUP_FORMAT, version: versionOf(), id, startedAtMs, logFormat: LOG_FORMAT, migrations },
    keyFingerprints: secretBox.fingerprintsOf(id, keyContext(id)),
  };
}

type Copied = Omit<BackupEnd, 'sha256'>;

const rowsOf = ({ tables }: Pick<Copied, 'tables'>): number => tables.reduce((sum, { rows }) => sum + rows, 0);

const outcomeOf = async (path: string, head: BackupHead, copied: Copied): Promise<BackupOutcome> => ({
  ...{ path, head, bytes: (await stat(path)).size, rows: rowsOf(copied) },
  messages: copied.streams.reduce((sum, { state }) => sum + state.messages, 0),
});
