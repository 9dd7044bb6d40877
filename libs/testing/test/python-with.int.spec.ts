import { access, mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CommandError, runCommand } from '@berth/servers';
import { expect, test } from '@jest/globals';
import { useTempFolders } from '../src/folders/index.js';
import { PYTHON_SETUP_MS, pythonWith } from '../src/python/index.js';

const ASK_MS = 30_000;
const tempFolder = useTempFolders();

const versionOf = async (python: string): Promise<string> =>
  (await runCommand(python, ['-c', 'import idna; print(idna.__version__)'], { timeoutMs: ASK_MS })).trim();

test(
  'all who ask at once get the same whole environment, and one that was not finished is made again',
  async () => {
    const cache = await tempFolder();
    const asked = await Promise.all([1, 2, 3].map(() => pythonWith(['idna==3.10'], cache)));
    const [python = ''] = asked;
    expect(new Set(asked).size).toBe(1);
    expect(await versionOf(python)).toBe('3.10');

    const other = join(dirname(dirname(dirname(python))), 'idna-3.9');
    await mkdir(other);
    await writeFile(join(other, 'left-over'), '');
    expect(await versionOf(await pythonWith(['idna==3.9'], cache))).toBe('3.9');
    await expect(access(join(other, 'left-over'))).rejects.toThrow('ENOENT');

    await expect(pythonWith(['idna==0.0.0'], cache)).rejects.toThrow(CommandError);
    expect(await readdir(dirname(other))).not.toContain('idna-0.0.0');
  },
  PYTHON_SETUP_MS,
);
