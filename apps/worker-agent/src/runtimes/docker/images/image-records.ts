import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RuntimeError } from '../../runtime-error.js';
import { keptRecords, recordKey, type ImageRecord } from './image-record.js';

const FILE = 'images.json';

/**
 * What this agent remembers of the images that it has pulled, in its home. A home without it has pulled nothing; one that
 * cannot be read would let accounts have what is not theirs, so it is an error.
 */
export class ImageRecords {
  readonly #path: string;
  readonly #records: Map<string, ImageRecord>;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, records: readonly ImageRecord[]) {
    this.#path = path;
    this.#records = new Map(records.map((record) => [recordKey(record), record]));
  }

  /** @throws RuntimeError `runtime-unavailable` where the file is no list of records */
  static async open(home: string): Promise<ImageRecords> {
    const path = join(home, FILE);
    return new ImageRecords(path, await readRecords(path));
  }

  get all(): readonly ImageRecord[] {
    return [...this.#records.values()];
  }

  find(image: Pick<ImageRecord, 'digest' | 'repository'>): ImageRecord | null {
    return this.#records.get(recordKey(image)) ?? null;
  }

  /** This agent has pulled it, under whatever name. */
  knows(digest: string): boolean {
    return this.all.some((record) => record.digest === digest);
  }

  put(record: ImageRecord): Promise<void> {
    this.#records.set(recordKey(record), record);
    return this.#save();
  }

  forget(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#records.delete(key);
    return this.#save();
  }

  /** One write after the other, each by rename: a reader finds the last whole one. */
  #save(): Promise<void> {
    const write = async (): Promise<void> => {
      const kept = keptRecords(this.all);
      await writeFile(`${this.#path}.new`, JSON.stringify(kept), { mode: 0o600 });
      await rename(`${this.#path}.new`, this.#path);
    };
    const written = this.#writing.then(write);
    // The caller hears of a failure; the next write is made all the same.
    this.#writing = written.catch(() => undefined);
    return written;
  }
}

async function readRecords(path: string): Promise<readonly ImageRecord[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const records = parsed(text);
  if (records !== null) return records;
  throw new RuntimeError(
    'runtime-unavailable',
    `${path} cannot be read: it says whose images are here. Remove it together with the images that it was about.`,
  );
}

function parsed(text: string): readonly ImageRecord[] | null {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) && value.every(isRecord) ? value : null;
  } catch {
    return null;
  }
}

function isRecord(value: unknown): value is ImageRecord {
  const { acceptedAtMs, digest, isPublic, lastUsedAtMs, repository } = (value ?? {}) as Partial<ImageRecord>;
  return (
    typeof digest === 'string' &&
    typeof repository === 'string' &&
    typeof isPublic === 'boolean' &&
    typeof lastUsedAtMs === 'number' &&
    typeof acceptedAtMs === 'object' &&
    Object.values(acceptedAtMs).every((atMs) => typeof atMs === 'number')
  );
}
