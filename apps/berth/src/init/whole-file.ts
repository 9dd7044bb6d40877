import { randomBytes } from 'node:crypto';
import { link, lstat, open, readdir, readlink, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
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
export async function writeNew(path: string, content: Content): Promise<boolean> {
  const target = await behindLinks(path);
  return throughDraft(target, content.mode, async (draft, file) => {
    await file.writeFile(content.text);
    await file.sync();
    try {
      await link(draft, target);
      return true;
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
  });
}

/** Replaces a file, or what a link leads to, and leaves it with its owner and mode. */
export async function replaceWhole(path: string, { mode, text }: Content): Promise<void> {
  const target = await behindLinks(path);
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

/** What a path leads to, which a link may name before it is there. */
async function behindLinks(path: string): Promise<string> {
  const found = await ifThere(realpath(path));
  if (found !== null) return found;
  const link = await ifThere(lstat(path));
  return link?.isSymbolicLink() === true ? resolve(dirname(path), await readlink(path)) : path;
}

const PERMISSIONS = 0o777;

/** Nothing is behind its name before it is whole and on the disk, so after a power cut no empty file has it. */
async function throughDraft<Result>(
  target: string,
  mode: number,
  place: (draft: string, file: FileHandle) => Promise<Result>,
): Promise<Result> {
  const draft = `${target}.${randomBytes(6).toString('hex')}${DRAFT}`;
  await clearDrafts(dirname(target), basename(target));
  try {
    const file = await open(draft, 'wx', mode);
    const result = await place(draft, file).finally(() => file.close());
    await syncFolder(dirname(target));
    return result;
  } finally {
    await rm(draft, { force: true });
  }
}

/** Removes what runs that were cut off have left in a folder, of one file or of all; the folder may be missing. */
export async function clearDrafts(folder: string, of = ''): Promise<void> {
  const names = (await ifThere(readdir(folder))) ?? [];
  const drafts = names.filter((name) => DRAFT_NAME.test(name) && (of === '' || name.replace(DRAFT_NAME, '') === of));
  for (const name of drafts) await rm(join(folder, name), { force: true });
}

/** Null: there is no such file. */
export const ifThere = <Found>(looking: Promise<Found>): Promise<Found | null> =>
  looking.catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  });

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
