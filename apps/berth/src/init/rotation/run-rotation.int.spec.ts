import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemRandom } from '@berth/lifecycle';
import { ManualClock } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EXIT_STATUS } from '../../program/index.js';
import { createSecretKey } from '../installation.js';
import { InstallationFolder } from '../installation-folder.js';
import { runInit, type InitOutcome } from '../run-init.js';
import { ROTATIONS, ROTATION_STEPS, type RotationName, type RotationStep } from './rotation-steps.js';
import { runRotation, type RotationOutcome } from './run-rotation.js';

const tempFolder = useTempFolders();
const PATHS = ['env/management-api.env', 'env/job-router.env', 'env/backup.env', 'env/restore.env'] as const;
const MISUSED = { name: 'CommandError', status: EXIT_STATUS.misused };

let path: string;
let old: string;

/** Made once: that takes longer than all that is done with it. */
let made: string;

beforeAll(async () => {
  made = path = await mkdtemp(join(tmpdir(), 'berth-rotation-'));
  await again();
});
afterAll(() => rm(made, { recursive: true }));

beforeEach(async () => {
  path = await tempFolder();
  await cp(made, path, { recursive: true });
  [old = ''] = await keysOf(PATHS[0]);
});

const again = (): Promise<InitOutcome> =>
  runInit(
    { given: { seenAt: '/etc/berth' }, isRenewing: false, isFirstKeyNew: false },
    { folder: new InstallationFolder(path), clock: new ManualClock(), random: systemRandom },
  );

const rotate = (step: RotationStep, name: RotationName = 'secret-key'): Promise<RotationOutcome> =>
  runRotation(new InstallationFolder(path), { name, step }, systemRandom);

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
    expect(await rotate('add')).toMatchObject({ step: 'add', replaced: PATHS });
    const [, made = ''] = await keys();
    expect(await keys()).toEqual([old, made]);
    expect(await rotate('add')).toMatchObject({ step: 'add', replaced: [] });
    expect(await rotate('switch')).toMatchObject({ step: 'switch', replaced: PATHS });
    expect(await rotate('switch')).toMatchObject({ step: 'switch', replaced: [] });
    expect(await keys()).toEqual([made, old]);
    const withoutOld = PATHS.slice(0, 3);
    expect(await rotate('retire')).toMatchObject({ step: 'retire', replaced: withoutOld });
    expect(await rotate('retire')).toMatchObject({ step: 'retire', replaced: [] });
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
    expect(await rotate(step)).toMatchObject({ step, replaced: [PATHS[1]] });
    expect(await keys()).toHaveLength(2);
  });

  test('is completed by the same step where the old one was going', async () => {
    await rotate('add');
    await rotate('switch');
    const [kept, router] = [await textOf('offline/installation.json'), await textOf(PATHS[1])];
    await rotate('retire');
    await writeFile(join(path, 'offline/installation.json'), kept);
    await writeFile(join(path, PATHS[1]), router);
    expect(await rotate('retire')).toMatchObject({ step: 'retire', replaced: [PATHS[1]] });
    expect(await keys()).toHaveLength(1);
  });

  test('goes on without a file that an older version did not write, which gets it when it is written', async () => {
    await rm(join(path, 'env/backup.env'));
    expect(await rotate('add')).toMatchObject({
      step: 'add',
      replaced: PATHS.filter((name) => name !== 'env/backup.env'),
    });
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

  /** As docs/backup.md says it of a backup of before a rotation: all keys in the files of processes, later the first one. */
  const setKeys = async (change: (kept: string) => string): Promise<void> => {
    for (const name of PATHS.slice(0, 3)) {
      const text = await textOf(name);
      await writeFile(join(path, name), text.replace(/^BERTH_SECRET_KEY=.*$/m, change));
    }
  };

  test('waits until what a restore needed is gone again, and goes on then', async () => {
    for (const step of ['add', 'switch', 'retire'] as const) await rotate(step);
    const all = (await keysOf('env/restore.env')).join(',');
    await setKeys(() => `BERTH_SECRET_KEY=${all}`);
    await expect(rotate('add')).rejects.toMatchObject(MISUSED);
    expect((await keysOf(PATHS[0])).join(',')).toBe(all);
    await setKeys((line) => line.replace(/,.*/, ''));
    await rotate('add');
    expect(await keys()).toHaveLength(2);
  });

  test.each<RotationStep>(['add', 'switch'])('is repaired by %s after a restore needed older ones', async (step) => {
    for (const each of ['add', 'switch', 'retire', 'add'] as const) await rotate(each);
    if (step === 'switch') await rotate(step);
    await setKeys((line) => line.replace(/,.*/, ''));
    await rotate(step);
    expect(await keys()).toHaveLength(2);
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
  await expect(runRotation(folder, { name: 'issuer', step: 'add' }, systemRandom)).rejects.toMatchObject(MISUSED);
});

test('an installation that knows fewer roles is completed first', async () => {
  const record = join(path, 'offline/installation.json');
  const { nats, ...rest } = JSON.parse(await readFile(record, 'utf8'));
  const { operator: _, ...older } = nats.roles;
  await writeFile(record, JSON.stringify({ ...rest, nats: { ...nats, roles: older } }));
  const refused = rotate('add', 'role-keys');
  await expect(refused).rejects.toMatchObject({ ...MISUSED, mend: expect.stringContaining('`berth init DIR`') });
});

const BROKER = 'broker/broker-1.conf';
const STATEMENTS = 'offline/database-password.sql';
const SEEDS = ['management-api', 'controllers', 'job-router', 'operator', 'backup', 'restore'];
const LOGINS = ['postgres', 'migrate', 'management-api', 'controllers', 'operator', 'backup', 'restore'];
const environments = (names: readonly string[]): readonly string[] => names.map((name) => `env/${name}.env`);

/** The files of each step, and a line of the first of them that somebody could have changed by hand. */
const KINDS: readonly (readonly [RotationName, Readonly<Record<RotationStep, readonly string[]>>])[] = [
  ['role-keys', { add: [BROKER], switch: environments(SEEDS), retire: [BROKER] }],
  ['issuer', { add: ['env/management-api.env'], switch: [BROKER], retire: ['env/management-api.env'] }],
  ['database-password', { add: [STATEMENTS], switch: environments(LOGINS), retire: [STATEMENTS] }],
];

const filesOf = (steps: Readonly<Record<RotationStep, readonly string[]>>): readonly string[] => [
  ...new Set(Object.values(steps).flat()),
];

describe.each(KINDS)('new %s', (name, steps) => {
  test('come step by step, each of which may be made again, and are what a new file would have', async () => {
    for (const step of [...ROTATION_STEPS, ...ROTATION_STEPS]) {
      expect(await rotate(step, name)).toMatchObject({ name, step, replaced: steps[step] });
      expect(await rotate(step, name)).toMatchObject({ name, step, replaced: [] });
      expect(await again()).toMatchObject({ written: [], differing: [] });
    }
  });

  test.each(ROTATION_STEPS)('are completed by the same step where %s was cut off', async (cut) => {
    for (const step of ROTATION_STEPS.slice(0, ROTATION_STEPS.indexOf(cut))) await rotate(step, name);
    const kept = await textOf('offline/installation.json');
    const [last = ''] = steps[cut].slice(-1);
    const before = await textOf(last).catch(() => '');
    await rotate(cut, name);
    await writeFile(join(path, last), before);
    // An old one is forgotten when no file has it any more.
    if (cut === 'retire') await writeFile(join(path, 'offline/installation.json'), kept);
    expect(await rotate(cut, name)).toMatchObject({ name, step: cut, replaced: [last] });
    expect(await again()).toMatchObject({ written: [], differing: [] });
  });

  test('leave alone what was changed by hand in the same files, and no old one behind', async () => {
    const changed = filesOf(steps).filter((each) => each !== STATEMENTS);
    for (const each of changed) await writeFile(join(path, each), `# ours $1\n${await textOf(each)}# theirs\n`);
    const kept = JSON.parse(await textOf('offline/installation.json'));
    for (const step of ROTATION_STEPS) await rotate(step, name);
    const texts = await Promise.all(changed.map(textOf));
    for (const text of texts) expect(text).toMatch(/^# ours \$1\n[^]*\n# theirs\n$/);
    const secrets = { 'role-keys': kept.nats.roles.backup, issuer: kept.nats.issuer }[name as string];
    expect(texts.join('')).not.toContain(secrets ?? kept.databasePassword);
    expect(await textOf('offline/installation.json')).not.toContain(secrets ?? kept.databasePassword);
  });

  test.each<[RotationStep, readonly RotationStep[]]>([
    ['switch', []],
    ['retire', ['add']],
    ['add', ['add', 'switch']],
  ])('are refused where %s is out of its order, and then nothing is changed', async (step, before) => {
    for (const each of before) await rotate(each, name);
    const all = ['offline/installation.json', ...filesOf(steps).filter((each) => each !== STATEMENTS)];
    const texts = await Promise.all(all.map(textOf));
    await expect(rotate(step, name)).rejects.toMatchObject(MISUSED);
    expect(await Promise.all(all.map(textOf))).toEqual(texts);
  });
});

test('all of them may be under way at a time', async () => {
  for (const step of ROTATION_STEPS) {
    for (const name of ROTATIONS) expect((await rotate(step, name)).replaced).not.toEqual([]);
    expect(await again()).toMatchObject({ written: [], differing: [] });
  }
});

test.each([
  ['role-keys', BROKER, /nkey: U/],
  ['issuer', BROKER, /issuer: A/],
  ['issuer', 'env/management-api.env', /BERTH_AUTH_ISSUER_SEED=S/],
  ['database-password', 'env/controllers.env', /postgres:\/\/berth:/],
] as const)('%s that somebody else has put into %s are not written over', async (name, file, what) => {
  await writeFile(join(path, file), (await textOf(file)).replace(what, '$&X'));
  const before = await textOf('offline/installation.json');
  await expect(rotate('add', name)).rejects.toMatchObject({
    ...MISUSED,
    message: expect.stringContaining(`${file} has no `),
  });
  expect(await textOf('offline/installation.json')).toBe(before);
});

test('the password of a database that is somebody else’s is theirs', async () => {
  path = join(path, 'other');
  await runInit(
    { given: { databaseUrl: 'postgres://me:mine@db/berth' }, isRenewing: false, isFirstKeyNew: false },
    { folder: new InstallationFolder(path), clock: new ManualClock(), random: systemRandom },
  );
  await expect(rotate('add', 'database-password')).rejects.toMatchObject(MISUSED);
});
