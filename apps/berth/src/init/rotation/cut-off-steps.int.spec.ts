import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemRandom } from '@berth/lifecycle';
import { ManualClock } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { EXIT_STATUS } from '../../program/index.js';
import { InstallationFolder } from '../installation-folder.js';
import { runInit } from '../run-init.js';
import { ROTATION_STEPS, type RotationName, type RotationStep } from './rotation-steps.js';
import { runRotation, type RotationOutcome } from './run-rotation.js';

const tempFolder = useTempFolders();
const RECORD = 'offline/installation.json';

let made: string;
let path: string;

beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), 'berth-cut-off-'));
  await runInit(
    { given: { brokers: 3 }, isRenewing: false, isFirstKeyNew: false },
    { folder: new InstallationFolder(made), clock: new ManualClock(), random: systemRandom },
  );
});
afterAll(() => rm(made, { recursive: true }));

beforeEach(async () => {
  path = await tempFolder();
  await cp(made, path, { recursive: true });
});

const rotate = (name: RotationName, step: RotationStep): Promise<RotationOutcome> =>
  runRotation(new InstallationFolder(path), { name, step }, systemRandom);

const textOf = (file: string): Promise<string> => readFile(join(path, file), 'utf8');

/** The steps before, and this one up to the file, which has what it had. */
async function cutOff(name: RotationName, step: RotationStep, file: string): Promise<void> {
  for (const each of ROTATION_STEPS.slice(0, ROTATION_STEPS.indexOf(step))) await rotate(name, each);
  const before = await textOf(file).catch(() => null);
  await rotate(name, step);
  if (before === null) await rm(join(path, file));
  else await writeFile(join(path, file), before);
}

describe.each<[RotationName, RotationStep, string]>([
  ['secret-key', 'add', 'env/job-router.env'],
  ['secret-key', 'add', 'env/restore.env'],
  ['secret-key', 'switch', 'env/job-router.env'],
  ['role-keys', 'add', 'broker/broker-3.conf'],
  ['role-keys', 'switch', 'env/controllers.env'],
  ['role-keys', 'switch', 'env/management-api.env'],
  ['issuer', 'add', 'env/management-api.env'],
  ['issuer', 'switch', 'broker/broker-2.conf'],
  ['database-password', 'add', 'offline/database-password.sql'],
  ['database-password', 'switch', 'env/postgres.env'],
  ['database-password', 'switch', 'env/controllers.env'],
])('a rotation of %s whose %s was cut off before %s', (name, step, file) => {
  const next = ROTATION_STEPS[ROTATION_STEPS.indexOf(step) + 1] ?? 'retire';

  test('does not go on as if it were whole', async () => {
    await cutOff(name, step, file);
    const texts = await Promise.all([RECORD, 'env/management-api.env', 'broker/broker-1.conf'].map(textOf));
    await expect(rotate(name, next)).rejects.toMatchObject({
      name: 'CommandError',
      status: EXIT_STATUS.misused,
      message: expect.stringContaining(`\`--step ${step}\` was cut off`),
      mend: expect.stringContaining(`\`--rotate ${name} --step ${step}\` again`),
    });
    expect(await Promise.all([RECORD, 'env/management-api.env', 'broker/broker-1.conf'].map(textOf))).toEqual(texts);
  });

  test('goes on once that step was made again', async () => {
    await cutOff(name, step, file);
    expect(await rotate(name, step)).toMatchObject({ replaced: [file] });
    expect(await rotate(name, next)).toMatchObject({ step: next });
  });
});

test('a broker’s file that a step of another kind has left out is told of as that', async () => {
  await cutOff('issuer', 'switch', 'broker/broker-2.conf');
  await expect(rotate('role-keys', 'add')).rejects.toMatchObject({
    status: EXIT_STATUS.misused,
    mend: expect.stringContaining('make that step again'),
  });
});
