import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { completeNatsKeys, createNatsKeys, publicNatsKeys, type NatsKeys } from './nats-keys.js';

const OWNER_ONLY = 0o600;

/**
 * Reads the keys of a stack, or makes them at its first start; the file is readable by its owner only. Roles that it does
 * not know, because it was written before they were, get theirs.
 */
export const loadOrCreateNatsKeys = async (path: string): Promise<NatsKeys> => {
  const kept = await readKeys(path);
  if (kept === undefined) {
    await mkdir(dirname(path), { recursive: true });
    // Unlike a rename, a link fails when somebody else was first; then theirs are the keys.
    await writeKeys(path, createNatsKeys(), link);
  } else {
    const complete = completeNatsKeys(kept);
    if (complete !== kept) await writeKeys(path, complete, rename);
  }
  const written = await readKeys(path);
  if (written === undefined) throw new Error(`${path} vanished while it was written.`);
  return written;
};

const writeKeys = async (
  path: string,
  keys: NatsKeys,
  place: (draft: string, path: string) => Promise<void>,
): Promise<void> => {
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`;
  await writeFile(draft, JSON.stringify(keys, undefined, 2), { mode: OWNER_ONLY });
  try {
    await place(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
};

const readKeys = async (path: string): Promise<NatsKeys | undefined> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const keys = JSON.parse(text) as NatsKeys;
  check(path, keys);
  return keys;
};

/** Fails on a broken or foreign file here, with its name, and not later as a refused connection. */
function check(path: string, keys: NatsKeys): void {
  try {
    publicNatsKeys(completeNatsKeys(keys));
  } catch (cause) {
    throw new Error(`${path} does not hold the keys of a broker's roles. Remove it to get new ones.`, { cause });
  }
}
