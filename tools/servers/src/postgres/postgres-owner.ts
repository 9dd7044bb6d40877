import { stat } from 'node:fs/promises';
import { platform } from 'node:os';
import { dirname } from 'node:path';
import { CommandError, runCommand, type ProcessOwner } from '../processes/run-command.js';

/** A command and the user it runs as. */
interface OwnedCommand {
  readonly executable: string;
  readonly args: readonly string[];
  readonly owner?: ProcessOwner;
}

/** How PostgreSQL's programs are run on this machine. */
export interface PostgresOwner {
  /** `undefined`: the user who runs this process. */
  readonly ids: ProcessOwner | undefined;
  command(executable: string, args: readonly string[]): OwnedCommand;
}

const USER = 'postgres';
const COMMAND_MS = 10_000;

/**
 * PostgreSQL refuses to run as root. Then the user `postgres` runs it, made when missing.
 *
 * A clone below root's home is closed to that user. It then gets the one capability that opens folders for reading
 * (`CAP_DAC_READ_SEARCH`), kept across `access(2)` by `no_setuid_fixup`, because PostgreSQL looks for its own program
 * with it; copying 60 MB of binaries to an open folder at each start was the alternative.
 *
 * @param paths what it must be able to reach
 */
export const choosePostgresOwner = async (paths: readonly string[]): Promise<PostgresOwner> => {
  if (process.getuid?.() !== 0) return { ids: undefined, command: (executable, args) => ({ executable, args }) };
  const ids = await ensureUser();
  const isOpen = (await Promise.all(paths.map((path) => canReach(path, ids)))).every(Boolean);
  if (isOpen || platform() !== 'linux') {
    return { ids, command: (executable, args) => ({ executable, args, owner: ids }) };
  }
  return {
    ids,
    command: (executable, args) => ({ executable: 'setpriv', args: [...reachEverything(ids), executable, ...args] }),
  };
};

const reachEverything = ({ uid, gid }: ProcessOwner): string[] => [
  '--reuid',
  String(uid),
  '--regid',
  String(gid),
  '--clear-groups',
  '--securebits',
  '+no_setuid_fixup',
  '--inh-caps',
  '+dac_read_search',
  '--ambient-caps',
  '+dac_read_search',
];

const ensureUser = async (): Promise<ProcessOwner> => {
  const found = await lookUpUser();
  if (found !== undefined) return found;
  try {
    const asSystemUser = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin'];
    await runCommand('useradd', [...asSystemUser, USER], { timeoutMs: COMMAND_MS });
  } catch (cause) {
    // Somebody who started at the same moment may have made it.
    const made = await lookUpUser();
    if (made === undefined)
      throw new Error(`PostgreSQL does not run as root, and a user "${USER}" could not be made.`, { cause });
    return made;
  }
  const made = await lookUpUser();
  if (made === undefined) throw new Error(`The user "${USER}" was made and is not there.`);
  return made;
};

const lookUpUser = async (): Promise<ProcessOwner | undefined> => {
  try {
    const uid = Number(await runCommand('id', ['-u', USER], { timeoutMs: COMMAND_MS }));
    const gid = Number(await runCommand('id', ['-g', USER], { timeoutMs: COMMAND_MS }));
    return { uid, gid };
  } catch (error) {
    if (error instanceof CommandError) return undefined;
    throw error;
  }
};

/** Whether every folder above `path` lets this user pass. */
const canReach = async (path: string, { uid, gid }: ProcessOwner): Promise<boolean> => {
  const folder = dirname(path);
  const { mode, uid: ownerUid, gid: ownerGid } = await stat(folder);
  const passBit = ownerUid === uid ? 0o100 : ownerGid === gid ? 0o010 : 0o001;
  if ((mode & passBit) === 0) return false;
  return folder === path || folder === dirname(folder) ? true : canReach(folder, { uid, gid });
};
