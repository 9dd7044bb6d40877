import { X509Certificate } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemRandom } from '@berth/lifecycle';
import { ManualClock } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { describe, expect, test } from '@jest/globals';
import { EXIT_STATUS } from '../program/index.js';
import { InstallationFolder } from './installation-folder.js';
import type { GivenPlan } from './installation-plan.js';
import { runInit, type InitOutcome, type InitRequest } from './run-init.js';

const tempFolder = useTempFolders();
const clock = new ManualClock();

const SECRETS = [
  'postgres',
  'migrate',
  'management-api',
  'controllers',
  'job-router',
  'worker-agent',
  'backup',
  'restore',
  'operator',
];

const init = (path: string, given: GivenPlan = {}, more: Partial<InitRequest> = {}): Promise<InitOutcome> =>
  runInit(
    { given, isRenewing: false, isFirstKeyNew: false, ...more },
    { folder: new InstallationFolder(path), clock, random: systemRandom },
  );

/** All files with their texts. */
async function contents(path: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const)),
  );
}

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('an installation', () => {
  test('is readable by its owner only, but for what holds no secret', async () => {
    const path = join(await tempFolder(), 'berth');
    const { firstKey } = await init(path, { brokers: 3 });
    expect(await modeOf(path)).toBe(0o700);
    const secrets = SECRETS.map((name) => `env/${name}.env`);
    for (const file of ['offline/installation.json', 'tls/broker-3.pem', 'tls/postgres.pem', ...secrets]) {
      expect([file, await modeOf(join(path, file))]).toEqual([file, 0o600]);
    }
    const open = ['tls/ca.crt', 'broker/broker-1.conf', 'broker/broker-2.conf', 'broker/broker-3.conf'];
    for (const file of open) {
      expect([file, await modeOf(join(path, file))]).toEqual([file, 0o644]);
      expect(await readFile(join(path, file), 'utf8')).not.toMatch(/PRIVATE KEY|\bS[UA][A-Z2-7]{50,}/);
    }
    expect(firstKey).toMatch(/^bk_[a-z0-9]{12}_[a-z0-9]{40}$/);
    expect(Object.values(await contents(path)).join('\n')).not.toContain(firstKey);
  });

  test('is left alone when it is made again', async () => {
    const path = await tempFolder();
    await init(path);
    const before = await contents(path);
    await writeFile(join(path, 'env/job-router.env'), 'BERTH_LOG_LEVEL=debug\n');
    expect(await init(path)).toMatchObject({
      written: [],
      replaced: [],
      differing: ['env/job-router.env'],
      firstKey: null,
    });
    expect(await contents(path)).toEqual({ ...before, [join(path, 'env/job-router.env')]: 'BERTH_LOG_LEVEL=debug\n' });
  });

  test('is completed where it was cut off, out of the same secrets', async () => {
    const path = await tempFolder();
    await init(path);
    const before = await contents(path);
    await rm(join(path, 'env'), { recursive: true });
    await rm(join(path, 'tls/ca.crt'));
    await rm(join(path, 'tls/postgres.pem'));
    const outcome = await init(path);
    expect(outcome.written).toEqual(['tls/ca.crt', ...SECRETS.map((name) => `env/${name}.env`), 'tls/postgres.pem']);
    const after = await contents(path);
    const certificate = join(path, 'tls/postgres.pem');
    expect({ ...after, [certificate]: '' }).toEqual({ ...before, [certificate]: '' });
  });

  test('gets a key for a role that it was made without, and keeps all others', async () => {
    const path = await tempFolder();
    await init(path);
    const record = join(path, 'offline/installation.json');
    const made = JSON.parse(await readFile(record, 'utf8')) as { nats: { roles: Record<string, string> } };
    const { operator: _, ...older } = made.nats.roles;
    await writeFile(record, JSON.stringify({ ...made, nats: { ...made.nats, roles: older } }));
    await rm(join(path, 'env/operator.env'));
    expect(await init(path)).toMatchObject({ written: ['env/operator.env'], differing: ['broker/broker-1.conf'] });
    const after = JSON.parse(await readFile(record, 'utf8')) as typeof made;
    expect(after.nats.roles).toMatchObject(older);
    expect(await readFile(join(path, 'env/operator.env'), 'utf8')).toContain(after.nats.roles.operator);
  });

  test('has one first key, whoever makes it at once', async () => {
    const path = await tempFolder();
    const results = await Promise.allSettled(Array.from({ length: 4 }, () => init(path)));
    const outcomes = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const keys = [...outcomes, await init(path)].filter(({ firstKey }) => firstKey !== null);
    expect(keys).toHaveLength(1);
    expect(await init(path)).toMatchObject({ written: [], differing: [] });
  });

  test.each<[string, (path: string) => Promise<unknown>]>([
    ['that has lost what it was made from', (path) => rm(join(path, 'offline'), { recursive: true })],
    ['of something else', (path) => writeFile(join(path, 'offline/installation.json'), '{"format":2}')],
  ])('is not made in a folder %s', async (_, spoil) => {
    const path = await tempFolder();
    await init(path);
    await spoil(path);
    const before = await contents(path);
    await expect(init(path)).rejects.toMatchObject({ name: 'CommandError', status: EXIT_STATUS.misused });
    expect(await contents(path)).toEqual(before);
  });

  test('is not laid out anew', async () => {
    const path = await tempFolder();
    await init(path, { storageGib: 50 });
    await expect(init(path, { brokers: 3, storageGib: 50 })).rejects.toThrow('made otherwise: brokers is 1.');
    expect(await init(path, { storageGib: 50 })).toMatchObject({ written: [] });
  });

  test('is not begun with a plan that cannot be', async () => {
    const path = join(await tempFolder(), 'berth');
    await expect(init(path, { brokerPort: 0 })).rejects.toMatchObject({ status: EXIT_STATUS.misused });
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  test('shares its folder with nothing else', async () => {
    const path = await tempFolder();
    await mkdir(join(path, 'photos'));
    await expect(init(path)).rejects.toThrow('holds files (photos)');
  });
});

describe('certificates', () => {
  const read = async (path: string, name: string): Promise<X509Certificate> =>
    new X509Certificate(await readFile(join(path, `tls/${name}`)));

  test('are of the authority, for the names of their server', async () => {
    const path = await tempFolder();
    await init(path, { brokerHost: ['10.0.0.7,nats.example.com'] });
    const authority = await read(path, 'ca.crt');
    const broker = await read(path, 'broker-1.pem');
    expect(broker.checkIssued(authority)).toBe(true);
    expect(broker.checkHost('nats.example.com')).toBe('nats.example.com');
    expect(broker.checkIP('10.0.0.7')).toBe('10.0.0.7');
    expect(broker.checkHost('postgres')).toBeUndefined();
  });

  test('are renewed on request, by the same authority, and nothing else is', async () => {
    const path = await tempFolder();
    await init(path);
    const before = await contents(path);
    const old = await read(path, 'broker-1.pem');
    await clock.advance(1_000);
    const renewed = { replaced: ['tls/broker-1.pem', 'tls/postgres.pem'], written: [] };
    expect(await init(path, {}, { isRenewing: true })).toMatchObject(renewed);
    const now = await read(path, 'broker-1.pem');
    expect(now.fingerprint256).not.toBe(old.fingerprint256);
    expect(now.checkIssued(await read(path, 'ca.crt'))).toBe(true);
    const after = await contents(path);
    const changed = Object.keys(after).filter((file) => after[file] !== before[file]);
    expect(changed.toSorted()).toEqual([join(path, 'tls/broker-1.pem'), join(path, 'tls/postgres.pem')]);
  });
});

describe('a first key that was lost', () => {
  test('gets another in its place, and what was changed by hand stays', async () => {
    const path = await tempFolder();
    const { firstKey } = await init(path);
    const file = join(path, 'env/migrate.env');
    const text = await readFile(file, 'utf8');
    await writeFile(file, text.replace('@postgres:', '@db.example.com:'));
    const outcome = await init(path, {}, { isFirstKeyNew: true });
    expect(outcome).toMatchObject({ written: [], replaced: ['env/migrate.env'] });
    expect(outcome.firstKey).not.toBe(firstKey);
    const changed = await readFile(file, 'utf8');
    expect(changed).toContain('@db.example.com:');
    const hashOf = (of: string): string | undefined => /^BERTH_SEED_API_KEY_HASH=(.*)$/m.exec(of)?.[1];
    expect(hashOf(changed)).not.toBe(hashOf(text));
    expect(changed.match(/BERTH_SEED_API_KEY_HASH/g)).toHaveLength(1);
  });

  test('is not replaced where something else of the run fails: nobody would have seen the new one', async () => {
    const path = await tempFolder();
    await init(path);
    const files = ['env/migrate.env', 'offline/installation.json'].map((file) => join(path, file));
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    await rm(join(path, 'tls/postgres.pem'));
    await mkdir(join(path, 'tls/postgres.pem'));
    const failing = init(path, {}, { isFirstKeyNew: true, isRenewing: true });
    await expect(failing).rejects.toMatchObject({ name: 'CommandError', status: EXIT_STATUS.failed });
    expect(await Promise.all(files.map((file) => readFile(file, 'utf8')))).toEqual(texts);
  });

  test('is told of as replaced, and not as kept', async () => {
    const path = await tempFolder();
    await init(path);
    const outcome = await init(path, {}, { isFirstKeyNew: true });
    expect(outcome).toMatchObject({ replaced: ['env/migrate.env'], differing: [] });
    expect(outcome.kept).not.toContain('env/migrate.env');
  });
});
