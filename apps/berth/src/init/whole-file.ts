import { randomBytes } from 'node:crypto';
import { link, open, readdir, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '@berth/lifecycle';

/** A crash leaves these behind; no file of an installation ends so. */
export const DRAFT = '.new';
const DRAFT_NAME = /\.[0-9a-f]{12}\.new$/;

interface Content {
  readonly text: string;
  /** Of a file that is not there yet. */
  readonly mode: number;
}

/** Writes a file that is not there. False: it is, and was left as it is. */
export function writeNew(path: string, content: Content): Promise<boolean> {
  return throughDraft(path, content.mode, async (draft, file) => {
    await file.writeFile(content.text);
    await file.sync();
    try {
      await link(draft, path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
  });
}

/** Replaces a file, or what a link leads to, and leaves it with its owner and mode. */
export async function replaceWhole(path: string, { mode, text }: Content): Promise<void> {
  const target = (await ifThere(realpath(path))) ?? path;
  const before = await ifThere(stat(target));
  await throughDraft(target, mode, async (draft, file) => {
    if (before !== null) {
      const { gid, uid } = await file.stat();
      if (before.uid !== uid || before.gid !== gid) await file.chown(before.uid, before.gid);
      await file.chmod(before.mode & PERMISSIONS);
    }
    await file.writeFile(text);
    await file.sync();
    await rename(draft, target);
  });
}

const PERMISSIONS = 0o777;

/** Nothing is behind its name before it is whole and on the disk, so after a power cut no empty file has it. */
async function throughDraft<Result>(
  target: string,
  mode: number,
  place: (draft: string, file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const draft = `${target}.${randomBytes(6).toString('hex')}${DRAFT}`;
  try {
    const file = await open(draft, 'wx', mode);
    const result = await place(draft, file).finally(() => file.close());
    await syncFolder(dirname(target));
    return result;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes what runs that were cut off have left in a folder; the folder may be missing. */
export async function clearDrafts(folder: string): Promise<void> {
  const names = (await ifThere(readdir(folder))) ?? [];
  for (const name of names.filter((each) => DRAFT_NAME.test(each))) await rm(join(folder, name), { force: true });
}

/** Null: there is no such file. */
export const ifThere = <Found>(looking: Promise<Found>): Promise<Found | null> =>
  looking.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
