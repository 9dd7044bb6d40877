import { makeTempFolder, type TempFolder } from '@berth/servers';
import { afterAll } from '@jest/globals';

/** An engine's images are many files. */
const REMOVE_TIMEOUT_MS = 60_000;

/**
 * Call once at the top of a spec. The returned function makes an empty folder; all of them are removed after the last
 * test of the file, or when the test process dies.
 */
export const useTempFolders = (): (() => Promise<string>) => {
  const made: TempFolder[] = [];
  afterAll(async () => {
    await Promise.all(made.map((folder) => folder.remove()));
  }, REMOVE_TIMEOUT_MS);
  return async () => {
    const folder = await makeTempFolder('berth-test');
    made.push(folder);
    return folder.path;
  };
};
