import { PlatformError } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import { COPIED_LOGS, LOG_FORMAT } from '@berth/messaging';
import type { RestoreConfig } from '../config.js';
import { CommandError, misuse } from '../program/index.js';
import { inspectArchive, readFolders, type Backup } from './archive-reader.js';
import { streamFolder, tableFolder, type BackupHead } from './backup-format.js';
import { openDatabase } from './database-session.js';
import { logInToBroker } from './broker-login.js';
import { BrokerRestore, requireEmptyBroker } from './restore-broker.js';
import { DatabaseRestore, requireEmptyDatabase } from './restore-database.js';
import { keyContext, keyRefusal } from './restore-refusals.js';

export interface RestoreTools {
  readonly clock: Clock;
  readonly random: Random;
  /** Told how far it has come. */
  readonly note: (line: string) => void;
}

/**
 * Puts a backup into an empty system: all of it, or nothing.
 *
 * @throws CommandError with what forbids it, before anything is changed; or with what went wrong, after it was taken back
 */
export async function runRestore(config: RestoreConfig, path: string, tools: RestoreTools): Promise<Backup> {
  const backup = await inspectArchive(path);
  tools.note(`${path} is whole, of ${new Date(backup.head.startedAtMs).toISOString()}`);
  requireReadable(config, backup.head);
  const database = await openDatabase(config.databaseUrl, 'berth-restore');
  try {
    await requireEmptyDatabase(database, backup.head.migrations);
    const { broker, close } = await logInToBroker(config, { ...tools, role: 'restore' });
    try {
      await requireEmptyBroker(broker);
      const rows = new DatabaseRestore(database, backup.end);
      const streams = new BrokerRestore(broker, { ...tools, size: config, backup });
      await fillOrTakeBack({ path, backup, rows, streams, note: tools.note });
      await commit(rows);
      return backup;
    } finally {
      await close();
    }
  } finally {
    await database.end().catch(() => undefined);
  }
}

function requireReadable({ secretBox }: RestoreConfig, head: BackupHead): void {
  if (head.logFormat !== LOG_FORMAT) {
    throw misuse(
      `The logs in the backup are of format ${String(head.logFormat)}, and this version writes ${String(LOG_FORMAT)}.`,
      `Restore with version ${head.version}, which made it.`,
    );
  }
  const refusal = keyRefusal(head.keyFingerprints, secretBox.fingerprintsOf(head.id, keyContext(head.id)));
  if (refusal !== null) throw refusal;
}

interface Restore {
  readonly path: string;
  readonly backup: Backup;
  readonly rows: DatabaseRestore;
  readonly streams: BrokerRestore;
  readonly note: (line: string) => void;
}

async function fillOrTakeBack(restore: Restore): Promise<void> {
  const { rows, streams } = restore;
  try {
    await fill(restore);
  } catch (error) {
    await rows.rollBack();
    const left = await streams.takeBack();
    if (left.length === 0) throw error instanceof PlatformError ? notAnswered(error) : error;
    throw new CommandError(`${(error as Error).message} These streams are left at the broker: ${left.join(', ')}.`, {
      mend: 'Give the brokers empty folders, and restore again.',
      cause: error,
    });
  }
}

const notAnswered = ({ cause, message }: PlatformError): CommandError =>
  new CommandError(`Nothing was restored. ${message} (${cause instanceof Error ? cause.message : 'no answer'})`, {
    mend: '`berth doctor` says whether the brokers are well. Then restore again.',
    cause,
  });

/** In the order of the archive: the database, which is checked before anything lies at the broker, and then the streams. */
async function fill({ backup, note, path, rows, streams }: Restore): Promise<void> {
  const { end } = backup;
  const tables = new Map(end.tables.map(({ name }) => [tableFolder(name), name]));
  const copies = new Map(end.streams.map((stream) => [streamFolder(stream.name, stream.attempt), stream]));
  let isDatabaseFull = false;
  const completeRows = async (): Promise<void> => {
    if (isDatabaseFull) return;
    isDatabaseFull = true;
    await rows.complete();
    note('the database is filled');
  };
  await rows.begin();
  for await (const { folder, pieces } of readFolders(path)) {
    const table = tables.get(folder);
    if (table !== undefined) await rows.fill(table, pieces);
    const copy = copies.get(folder);
    if (copy === undefined) continue;
    await completeRows();
    await streams.fill(copy, pieces);
  }
  await completeRows();
  const created = await streams.complete();
  note('the broker is filled');
  for (const { created: before, name } of end.streams) {
    const shard = COPIED_LOGS.indexOf(name);
    if (shard !== -1) await rows.moveHistory(shard, before, created.get(name) ?? before);
  }
}

async function commit(rows: DatabaseRestore): Promise<void> {
  try {
    await rows.commit();
  } catch (error) {
    throw new CommandError(
      `Whether the database has kept what was restored is not known: ${(error as Error).message}.`,
      {
        mend: 'Take a new database and empty folders for the brokers, and restore again.',
        cause: error,
      },
    );
  }
}
