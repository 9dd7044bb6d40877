import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parentWatch } from './processes/parent-watch.js';

export interface TempFolder {
  readonly path: string;
  /** Removes it with all it holds. Safe to call twice. */
  remove(): Promise<void>;
}

/** A folder of its own under the machine's temporary folder; it goes at the latest when this process dies. */
export const makeTempFolder = async (prefix = 'berth'): Promise<TempFolder> => {
  const path = await mkdtemp(join(tmpdir(), `${prefix}-`));
  parentWatch.removeFolder(path);
  let isRemoved = false;
  return {
    path,
    remove: async () => {
      if (isRemoved) return;
      isRemoved = true;
      await rm(path, { recursive: true, force: true, maxRetries: 5 });
      parentWatch.keepFolder(path);
    },
  };
};
