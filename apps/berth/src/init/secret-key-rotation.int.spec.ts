import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemRandom } from '@berth/lifecycle';
import { ManualClock, useTempFolders } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { EXIT_STATUS } from '../program/index.js';
import { createSecretKey } from './installation.js';
import { InstallationFolder } from './installation-folder.js';
import { runInit, type InitOutcome } from './run-init.js';
import { runSecretKeyRotation, type RotationOutcome } from './secret-key-rotation.js';
import type { RotationStep } from './secret-keys.js';

const tempFolder = useTempFolders();
const PATHS = ['env/management-api.env', 'env/job-router.env', 'env/backup.env', 'env/restore.env'] as const;
const MISUSED = { name: 'CommandError', status: EXIT_STATUS.misused };

let path: string;
let old: string;

beforeEach(async () => {
  path = await tempFolder();
  await again();
  [old = ''] = await keysOf(PATHS[0]);
});

const again = (): Promise<InitOutcome> =>
  runInit(
    { given: {}, isRenewing: false, isFirstKeyNew: false },
    { folder: new InstallationFolder(path), clock: new ManualClock(), random: systemRandom },
  );

const rotate = (step: RotationStep): Promise<RotationOutcome> =>
  runSecretKeyRotation(new InstallationFolder(path), step, createSecretKey);

const textOf = (name: string): Promise<string> => readFile(join(path, name), 'utf8');

const keysOf = async (name: string): Promise<readonly string[]> =>
  (/^BERTH_SECRET_KEY=(.*)$/m.exec(await textOf(name))?.[1] ?? '').split(',');

/** All files have the same keys, and the installation would write them so. */
async function keys(): Promise<readonly string[]> {
  const [first = [], ...others] = await Promise.all(PATHS.map(keysOf));
  for (const other of others) expect(other.slice(0, first.length)).toEqual(first);
  expect(await again()).toMatchObject({ written: [], differing: [] });
  return first;
}

/** As if the run had ended before this file was written. */
async function cutOff(step: RotationStep, name: string): Promise<void> {
  const before = await textOf(name);
  await rotate(step);
  await writeFile(join(path, name), before);
}

describe('a new key for what rests sealed', () => {
  test('opens, then seals, then is alone; each step may be made again', async () => {
    expect(await rotate('add')).toEqual({ step: 'add', replaced: PATHS });
    const [, made = ''] = await keys();
    expect(await keys()).toEqual([old, made]);
    expect(await rotate('add')).toEqual({ step: 'add', replaced: [] });
    expect(await rotate('switch')).toEqual({ step: 'switch', replaced: PATHS });
    expect(await rotate('switch')).toEqual({ step: 'switch', replaced: [] });
    expect(await keys()).toEqual([made, old]);
    const withoutOld = PATHS.slice(0, 3);
    expect(await rotate('retire')).toEqual({ step: 'retire', replaced: withoutOld });
    expect(await rotate('retire')).toEqual({ step: 'retire', replaced: [] });
    expect(await keys()).toEqual([made]);
    for (const name of withoutOld) expect(await textOf(name)).not.toContain(old);
  });

  test('that takes the place of another leaves this one where backups of before are put back', async () => {
    for (const step of ['add', 'switch', 'retire', 'add', 'switch', 'retire'] as const) await rotate(step);
    const [now, ...before] = await keysOf('env/restore.env');
    expect([now]).toEqual(await keysOf(PATHS[0]));
    expect(before).toHaveLength(2);
    expect(before.at(-1)).toBe(old);
    await rm(join(path, 'env/restore.env'));
    await again();
    expect(await keysOf('env/restore.env')).toEqual([now, ...before]);
  });

  test.each<RotationStep>(['add', 'switch'])('is completed by the same step where %s was cut off', async (step) => {
    if (step === 'switch') await rotate('add');
    await cutOff(step, PATHS[1]);
    expect(await rotate(step)).toEqual({ step, replaced: [PATHS[1]] });
    expect(await keys()).toHaveLength(2);
  });

  test('is completed by the same step where the old one was going', async () => {
    await rotate('add');
    await rotate('switch');
    const [kept, router] = [await textOf('offline/installation.json'), await textOf(PATHS[1])];
    await rotate('retire');
    await writeFile(join(path, 'offline/installation.json'), kept);
    await writeFile(join(path, PATHS[1]), router);
    expect(await rotate('retire')).toEqual({ step: 'retire', replaced: [PATHS[1]] });
    expect(await keys()).toHaveLength(1);
  });

  test('goes on without a file that an older version did not write, which gets it when it is written', async () => {
    await rm(join(path, 'env/backup.env'));
    expect(await rotate('add')).toEqual({ step: 'add', replaced: PATHS.filter((name) => name !== 'env/backup.env') });
    expect(await again()).toMatchObject({ written: ['env/backup.env'] });
    expect(await keys()).toHaveLength(2);
  });

  test('leaves alone what was changed by hand in the same file', async () => {
    const by = `# ours\n${(await textOf(PATHS[0])).replace('BERTH_NATS_REPLICAS=1', 'BERTH_NATS_REPLICAS=3')}BERTH_X=$1\n`;
    await writeFile(join(path, PATHS[0]), by);
    await rotate('add');
    const line = /^BERTH_SECRET_KEY=.*$/m;
    expect((await textOf(PATHS[0])).replace(line, '')).toBe(by.replace(line, ''));
  });

  test.each<[RotationStep, readonly RotationStep[]]>([
    ['switch', []],
    ['retire', ['add']],
    ['add', ['add', 'switch']],
  ])('%s out of its order is refused, and nothing is changed', async (step, before) => {
    for (const each of before) await rotate(each);
    const all = ['offline/installation.json', ...PATHS];
    const texts = await Promise.all(all.map(textOf));
    await expect(rotate(step)).rejects.toMatchObject(MISUSED);
    expect(await Promise.all(all.map(textOf))).toEqual(texts);
  });

  test.each([
    [
      'of somebody else',
      (text: string) => text.replace(/^BERTH_SECRET_KEY=/m, `BERTH_SECRET_KEY=${createSecretKey()},`),
    ],
    ['that is not there', (text: string) => text.replace(/^BERTH_SECRET_KEY=.*\n/m, '')],
  ])('is not written over one %s', async (_, change) => {
    await writeFile(join(path, PATHS[1]), change(await textOf(PATHS[1])));
    const all = ['offline/installation.json', ...PATHS];
    const texts = await Promise.all(all.map(textOf));
    await expect(rotate('add')).rejects.toMatchObject(MISUSED);
    expect(await Promise.all(all.map(textOf))).toEqual(texts);
  });
});

test('nothing is rotated where there is no installation', async () => {
  const folder = new InstallationFolder(join(path, 'other'));
  await expect(runSecretKeyRotation(folder, 'add', createSecretKey)).rejects.toMatchObject(MISUSED);
});
