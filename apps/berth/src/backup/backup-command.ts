import { resolve } from 'node:path';
import { parseConfig, systemClock, systemRandom } from '@berth/lifecycle';
import { readBackupConfig, readRestoreConfig } from '../config.js';
import { EXIT_STATUS, type Command } from '../program/index.js';
import { runBackup } from './run-backup.js';
import { olderKeysOf, restoredLines } from './restored-lines.js';
import { runRestore } from './run-restore.js';

interface FileArguments {
  readonly file?: string;
}

/** `berth backup FILE|DIR` */
export const backupCommand: Command = (run) => ({
  command: 'backup <file>',
  describe: 'Copy all state of an installation into a file while it runs',
  builder: (parser) =>
    parser.positional('file', {
      type: 'string',
      demandOption: true,
      describe: 'A new file that ends in .tar.gz, or the folder for one',
    }),
  handler: (parsed) =>
    run(parsed, async (output, { environment }) => {
      const config = parseConfig(environment, readBackupConfig);
      const { file = '' } = parsed as FileArguments;
      const tools = { clock: systemClock, random: systemRandom, note: (line: string) => output.note(line) };
      const { bytes, head, messages, path, rows } = await runBackup(config, resolve(file), tools);
      const startedAt = new Date(head.startedAtMs).toISOString();
      output.say({
        json: { path, bytes, id: head.id, version: head.version, startedAt, rows, messages },
        lines: [`${path} has all that was acknowledged before ${startedAt} (${String(bytes)} bytes).`, KEEP],
      });
      return EXIT_STATUS.done;
    }),
});

const KEEP = 'It holds inputs and results of jobs in the clear; keep it, and BERTH_SECRET_KEY apart from it.';

/** `berth restore FILE` */
export const restoreCommand: Command = (run) => ({
  command: 'restore <file>',
  describe: 'Put a backup into an empty system, before its first start',
  builder: (parser) =>
    parser.positional('file', { type: 'string', demandOption: true, describe: 'What `berth backup` has written' }),
  handler: (parsed) =>
    run(parsed, async (output, { environment }) => {
      const config = parseConfig(environment, readRestoreConfig);
      const { file = '' } = parsed as FileArguments;
      const tools = { clock: systemClock, random: systemRandom, note: (line: string) => output.note(line) };
      const { head } = await runRestore(config, resolve(file), tools);
      const startedAt = new Date(head.startedAtMs).toISOString();
      const olderKeys = olderKeysOf(config.secretBox, head);
      output.say({
        json: { id: head.id, version: head.version, startedAt, olderKeys },
        lines: restoredLines(startedAt, olderKeys),
      });
      return EXIT_STATUS.done;
    }),
});
