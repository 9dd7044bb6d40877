import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RuntimeError } from '../runtime-error.js';

/** One thing in an image folder; `path` is relative to it. */
export interface FolderEntry {
  readonly path: string;
  readonly kind: 'folder' | 'file' | 'link';
  readonly mode: number;
  readonly sizeBytes: number;
  readonly modifiedAtMs: number;
}

/** What running a program leaves behind; it is neither content nor product. */
const IGNORED = new Set(['.berth', '.git', '__pycache__']);
const ENTRIES_MAX = 100_000;

/** From this size on a file counts as data: told apart by size and date, and linked instead of copied. */
export const DATA_FILE_MIN_BYTES = 16 * 1024 * 1024;

/** Everything in the folder, parents before children, without what lies below `excluded` paths. */
export async function listFolder(folder: string, excluded: ReadonlySet<string>): Promise<readonly FolderEntry[]> {
  const entries: FolderEntry[] = [];
  const pending = [''];
  for (let parent = pending.shift(); parent !== undefined; parent = pending.shift()) {
    for (const name of (await readdir(join(folder, parent))).sort()) {
      const path = join(parent, name);
      if (IGNORED.has(name) || excluded.has(path)) continue;
      const entry = await describeEntry(folder, path);
      if (entry === null) continue;
      entries.push(entry);
      if (entry.kind === 'folder') pending.push(path);
      if (entries.length > ENTRIES_MAX) {
        throw new RuntimeError('setup-failed', `${folder} holds more than ${String(ENTRIES_MAX)} files.`);
      }
    }
  }
  return entries;
}

async function describeEntry(folder: string, path: string): Promise<FolderEntry | null> {
  const found = await lstat(join(folder, path));
  const kind = kindOf(found);
  if (kind === null) return null;
  return { path, kind, mode: found.mode, sizeBytes: found.size, modifiedAtMs: found.mtimeMs };
}

function kindOf(found: Awaited<ReturnType<typeof lstat>>): FolderEntry['kind'] | null {
  if (found.isDirectory()) return 'folder';
  if (found.isFile()) return 'file';
  // Sockets and pipes belong to a program that runs there, not to the image.
  return found.isSymbolicLink() ? 'link' : null;
}

/** Changes when anything in the listed content changes. */
export async function hashContent(folder: string, entries: readonly FolderEntry[]): Promise<string> {
  const hash = createHash('sha256');
  for (const entry of entries) {
    const content = await contentOf(folder, entry);
    hash.update(JSON.stringify([entry.path, entry.kind, entry.mode, content]));
  }
  return hash.digest('hex');
}

async function contentOf(folder: string, entry: FolderEntry): Promise<string> {
  const path = join(folder, entry.path);
  if (entry.kind === 'folder') return '';
  if (entry.kind === 'link') return readlink(path);
  if (entry.sizeBytes >= DATA_FILE_MIN_BYTES) return `${String(entry.sizeBytes)} ${String(entry.modifiedAtMs)}`;
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Topmost paths that are there after but were not before: what a setup made. */
export function findProducts(before: readonly FolderEntry[], after: readonly FolderEntry[]): readonly string[] {
  const known = new Set(before.map(({ path }) => path));
  const products = new Set<string>();
  for (const { path } of after) {
    if (known.has(path) || parentsOf(path).some((parent) => products.has(parent))) continue;
    products.add(path);
  }
  return [...products];
}

function parentsOf(path: string): readonly string[] {
  const names = path.split('/');
  return names.slice(1).map((_, index) => names.slice(0, index + 1).join('/'));
}
