import { misuse, type CommandError } from '../program/index.js';

/**
 * Why what a backup holds does not fit the tables that there are; null: it does.
 *
 * @param there null: none yet
 */
export function schemaRefusal(wanted: readonly string[], there: readonly string[] | null): CommandError | null {
  if (there === null) {
    return misuse('The database has no tables yet. Nothing was changed.', 'Run the migration first (env/migrate.env).');
  }
  const missing = wanted.filter((name) => !there.includes(name));
  const further = there.filter((name) => !wanted.includes(name));
  if (missing.length > 0) {
    return misuse(
      `The tables are of an older version than the backup: ${missing.join(', ')} has not been run here. Nothing was changed.`,
      'Run the migration of the version that made the backup, or restore with a newer one.',
    );
  }
  if (further.length === 0) return null;
  return misuse(
    `The tables are of a newer version than the backup: it knows nothing of ${further.join(', ')}. Nothing was changed.`,
    'Restore with the version that made the backup, in a new database, and upgrade afterwards.',
  );
}

/** Why secrets in a backup could not be opened afterwards; null: they can. */
export function keyRefusal(wanted: readonly string[], known: readonly string[]): CommandError | null {
  const missing = wanted.filter((fingerprint) => !known.includes(fingerprint)).length;
  if (missing === 0) return null;
  const reason =
    wanted.length === 1
      ? 'The secrets in the backup were sealed with another BERTH_SECRET_KEY.'
      : `BERTH_SECRET_KEY lacks ${String(missing)} of the ${String(wanted.length)} keys that the secrets in the backup were sealed with.`;
  return misuse(
    `${reason} Nothing was changed.`,
    'Set BERTH_SECRET_KEY as it was where the backup was made; several keys stand with commas between.',
  );
}

/** What the fingerprints of the keys of one backup are made of. */
export const keyContext = (backupId: string): string => `backup:${backupId}`;
