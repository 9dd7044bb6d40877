import { chmod, chown, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemRandom } from '@berth/lifecycle';
import { ManualClock } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { describe, expect, test } from '@jest/globals';
import { EXIT_STATUS } from '../program/index.js';
import { InstallationFolder } from './installation-folder.js';
import type { GivenPlan } from './installation-plan.js';
import { runRotation, type RotationOutcome } from './rotation/index.js';
import { runInit, type InitOutcome, type InitRequest } from './run-init.js';

const tempFolder = useTempFolders();
const NEW_KEY = { isFirstKeyNew: true };
const FILE = 'env/migrate.env';

const init = (path: string, more: Partial<InitRequest> = {}, given: GivenPlan = {}): Promise<InitOutcome> =>
  runInit(
    { given, isRenewing: false, isFirstKeyNew: false, ...more },
    { folder: new InstallationFolder(path), clock: new ManualClock(), random: systemRandom },
  );

const add = (path: string): Promise<RotationOutcome> =>
  runRotation(new InstallationFolder(path), { name: 'secret-key', step: 'add' }, systemRandom);

async function made(): Promise<string> {
  const path = await tempFolder();
  await init(path);
  return path;
}

describe('a file that is replaced', () => {
  test('keeps its owner and its mode', async () => {
    const path = await made();
    const file = join(path, FILE);
    // Whoever is not root has one owner to give.
    const isRoot = process.getuid?.() === 0;
    const { gid, uid } = isRoot ? { gid: 10_001, uid: 10_001 } : await stat(file);
    await chown(file, uid, gid);
    await chmod(file, 0o640);
    await init(path, NEW_KEY);
    expect(await stat(file)).toMatchObject({ uid, gid, mode: 0o100_640 });
  });

  test('stays behind the link that leads to it', async () => {
    const path = await made();
    const [elsewhere, file] = [join(await tempFolder(), 'migrate'), join(path, FILE)];
    await rename(file, elsewhere);
    await symlink(elsewhere, file);
    const before = await readFile(elsewhere, 'utf8');
    await init(path, NEW_KEY);
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect(await readFile(elsewhere, 'utf8')).not.toBe(before);
    expect(await readdir(join(elsewhere, '..'))).toEqual(['migrate']);
  });
});

test.each(['env/migrate.env', 'tls/postgres.pem'])(
  '%s is made where its link leads to, and nowhere else',
  async (name) => {
    const path = await made();
    const [folder, file] = [await tempFolder(), join(path, name)];
    await rm(file);
    await symlink(join(folder, 'real'), file);
    await writeFile(join(folder, 'real.0123456789ab.new'), 'secret');
    expect((await init(path)).written).toEqual([name]);
    expect((await lstat(file)).isSymbolicLink()).toBe(true);
    expect(await readdir(folder)).toEqual(['real']);
  },
);

test('what a run that was cut off has left of secrets is cleared away', async () => {
  const path = await made();
  for (const folder of ['offline', 'env', 'tls']) await writeFile(join(path, folder, 'x.0123456789ab.new'), 'secret');
  await writeFile(join(path, 'env', 'ours.new'), 'not ours');
  await init(path);
  const names = (await readdir(path, { recursive: true })).filter((name) => name.endsWith('.new'));
  expect(names).toEqual([join('env', 'ours.new')]);
});

describe('of two runs at once', () => {
  const REFUSED = { name: 'CommandError', status: EXIT_STATUS.misused, message: expect.stringContaining('at work in') };

  test.each<[string, (path: string) => Promise<unknown>]>([
    ['a rotation', add],
    ['another first key', (path) => init(path, NEW_KEY)],
  ])('the second is refused: %s', async (_, second) => {
    const path = await made();
    const [file, record] = [join(path, FILE), join(path, 'offline/installation.json')];
    const texts = await Promise.all([file, record].map((each) => readFile(each, 'utf8')));
    await new InstallationFolder(path).alone(systemRandom, async () => {
      await expect(second(path)).rejects.toMatchObject(REFUSED);
    });
    expect(await Promise.all([file, record].map((each) => readFile(each, 'utf8')))).toEqual(texts);
    await expect(second(path)).resolves.toBeDefined();
  });

  test('none makes a folder for an installation that is not there', async () => {
    const path = join(await tempFolder(), 'other');
    await expect(add(path)).rejects.toMatchObject({ status: EXIT_STATUS.misused });
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

test.each<[string, (path: string) => Promise<unknown>]>([
  ['made', (path) => init(path)],
  ['rotated', add],
])('what is in the way of an installation that is %s is told of by its path', async (_, run) => {
  const path = await made();
  await rename(join(path, 'env/job-router.env'), join(path, 'env/job-router.old'));
  await mkdir(join(path, 'env/job-router.env'));
  await expect(run(path)).rejects.toMatchObject({
    name: 'CommandError',
    status: EXIT_STATUS.failed,
    message: expect.stringMatching(/env\/job-router\.env cannot be read: /),
    mend: expect.stringContaining('run the same again'),
  });
});
