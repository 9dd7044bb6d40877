import { link, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Random } from '@berth/lifecycle';

const MARK = '.berth-storage';
const ID_LENGTH = 14;
const ID = /^[a-z0-9]{14}$/;

/**
 * The id that lies in the folder itself, so that whoever sees the same files sees the same id: hosts that mount one share,
 * and a disk that was moved to another host. Null where there is none yet.
 *
 * @throws Error for a mark that is none of ours
 */
export async function readMark(folder: string): Promise<string | null> {
  try {
    const id = (await readFile(join(folder, MARK), 'utf8')).trim();
    if (!ID.test(id)) throw new Error(`${join(folder, MARK)} holds no id of a storage`);
    return id;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}

/** Marks the folder, unless another host was quicker. Returns the id that it has from now on. */
export async function makeMark(folder: string, random: Random): Promise<string> {
  const id = random.id(ID_LENGTH);
  const draft = join(folder, `${MARK}-${id}`);
  await writeFile(draft, `${id}\n`, { flag: 'wx' });
  try {
    // A link appears whole, and for one of several hosts only.
    await link(draft, join(folder, MARK));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
  return (await readMark(folder)) ?? id;
}
