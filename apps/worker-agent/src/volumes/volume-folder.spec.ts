import { execFileSync } from 'node:child_process';
import { lstat, mkdir, open, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLogger } from '@berth/telemetry';
import { ManualClock, SeededRandom, eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { VolumeFolder } from './volume-folder.js';

const newFolder = useTempFolders();

const MARK = '.berth-storage';
const V1 = { id: 'v1', accountId: 'a1' };

let clock: ManualClock;
let folder: string;
let seed = 1;
const opened: VolumeFolder[] = [];

beforeEach(async () => {
  clock = new ManualClock();
  folder = await newFolder();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((volumes) => volumes.stop()));
});

/** The volumes of an agent with a home of its own, unless it is said which. */
async function openVolumes(at = folder, home?: string): Promise<VolumeFolder> {
  const random = new SeededRandom((seed += 1));
  const options = { folder: at, home: home ?? (await newFolder()), clock, random, logger: silentLogger };
  const volumes = new VolumeFolder(options);
  opened.push(volumes);
  await volumes.start();
  return volumes;
}

const unavailable = { name: 'RuntimeError', reason: 'volume-unavailable', isTemporary: true };

describe('a storage', () => {
  test('is the same to all agents that see its files, and another where they see others', async () => {
    const [one, two] = await Promise.all([openVolumes(), openVolumes()]);
    expect(one.storage).toEqual({ storageId: expect.stringMatching(/^[a-z0-9]{14}$/) });
    expect(two.storage).toEqual(one.storage);
    expect((await openVolumes(await newFolder())).storage).not.toEqual(one.storage);
    expect(await readdir(folder)).toEqual([MARK]);
  });

  test('keeps its name when its folder is moved to another place', async () => {
    const before = (await openVolumes()).storage;
    const moved = join(await newFolder(), 'moved');
    await rename(folder, moved);
    expect((await openVolumes(moved)).storage).toEqual(before);
  });

  test('is none where the folder is not there, or its mark cannot be read', async () => {
    const volumes = await openVolumes(join(folder, 'missing'));
    expect(volumes.storage).toBeNull();
    await expect(volumes.folderOf(V1)).rejects.toMatchObject(unavailable);
    await writeFile(join(folder, MARK), '../../etc\n');
    expect((await openVolumes()).storage).toBeNull();
  });

  test('that is gone from its place is not replaced by what is under it, and is found again', async () => {
    const home = await newFolder();
    const before = await openVolumes(folder, home);
    const { storage } = before;
    const away = join(await newFolder(), 'away');
    await rename(folder, away);
    await mkdir(folder);
    await expect(before.folderOf(V1)).rejects.toMatchObject(unavailable);
    expect(before.storage).toBeNull();
    expect((await openVolumes(folder, home)).storage).toBeNull();
    expect(await readdir(folder)).toEqual([]);
    await rm(folder, { recursive: true });
    await rename(away, folder);
    await before.folderOf(V1);
    expect(before.storage).toEqual(storage);
  });

  test('that does not answer keeps nobody waiting for ever, and counts as none in time', async () => {
    const volumes = await openVolumes();
    const mark = await readFile(join(folder, MARK), 'utf8');
    await rm(join(folder, MARK));
    execFileSync('/usr/bin/mkfifo', [join(folder, MARK)]);
    const waiting = [volumes.folderOf(V1), volumes.folderOf({ ...V1, id: 'v2' })];
    const refused = Promise.allSettled(waiting);
    await clock.advance(10_000);
    expect(await refused).toMatchObject([{ reason: unavailable }, { reason: unavailable }]);
    expect(volumes.storage).not.toBeNull();
    await clock.advance(70_000);
    expect(volumes.storage).toBeNull();
    // The call that hangs ends, and those that came after it find a mark that answers.
    const pipe = await open(join(folder, MARK), 'r+');
    await writeFile(join(folder, 'mark'), mark);
    await rename(join(folder, 'mark'), join(folder, MARK));
    await pipe.writeFile(mark);
    await pipe.close();
    await eventually(() => expect(volumes.storage).not.toBeNull());
  });
});

describe('a volume', () => {
  test('is one folder, whoever asks, which others of the host cannot look into', async () => {
    const path = await (await openVolumes()).folderOf(V1);
    expect(path).toBe(join(folder, 'a1', 'v1'));
    await writeFile(join(path, 'kept'), 'weights');
    expect(await (await openVolumes()).folderOf(V1)).toBe(path);
    expect(await readFile(join(path, 'kept'), 'utf8')).toBe('weights');
    expect((await lstat(path)).mode & 0o777).toBe(0o777);
    expect((await lstat(join(folder, 'a1'))).mode & 0o777).toBe(0o700);
  });

  test.each([
    { accountId: '..', id: 'v1' },
    { accountId: 'a1', id: '..' },
    { accountId: 'a1', id: '../../v1' },
    { accountId: '', id: 'v1' },
    { accountId: 'a1', id: '' },
  ])('of $accountId/$id, which names no place of its own, is refused', async (volume) => {
    await expect((await openVolumes()).folderOf(volume)).rejects.toMatchObject(unavailable);
    expect(await readdir(folder)).toEqual([MARK]);
  });

  test('is not taken for one where something else stands in its place', async () => {
    await mkdir(join(folder, 'a1'));
    await symlink(await newFolder(), join(folder, 'a1', 'v1'));
    await expect((await openVolumes()).folderOf(V1)).rejects.toMatchObject(unavailable);
  });
});

describe('of a deleted volume', () => {
  test('all files go, nothing that a link of the tenant leads to, and nothing of its neighbours', async () => {
    const volumes = await openVolumes();
    const [path, neighbour] = [await volumes.folderOf(V1), await volumes.folderOf({ ...V1, id: 'v2' })];
    const outside = await newFolder();
    await writeFile(join(outside, 'precious'), 'x');
    await mkdir(join(path, 'deep', 'deeper'), { recursive: true });
    await symlink(outside, join(path, 'deep', 'link'));
    await symlink(join(neighbour, 'file'), join(path, 'other'));
    await writeFile(join(neighbour, 'file'), 'y');
    volumes.setDeleted([V1]);
    await eventually(() => expect(volumes.clearedIds).toEqual(['v1']));
    expect(await readdir(join(folder, 'a1'))).toEqual(['v2']);
    expect(await readdir(outside)).toEqual(['precious']);
    expect(await readdir(neighbour)).toEqual(['file']);
    volumes.setDeleted([{ ...V1, id: 'v2' }]);
    expect(volumes.clearedIds).toEqual([]);
    await eventually(() => expect(volumes.clearedIds).toEqual(['v2']));
    expect(await readdir(folder)).toEqual([MARK]);
  });

  test('nothing is said to be gone while the storage cannot be reached', async () => {
    const volumes = await openVolumes();
    const path = await volumes.folderOf(V1);
    const away = join(await newFolder(), 'away');
    await rename(folder, away);
    volumes.setDeleted([V1]);
    await clock.advance(60_000);
    expect(volumes.clearedIds).toEqual([]);
    await rename(away, folder);
    await eventually(async () => {
      await clock.advance(60_000);
      expect(volumes.clearedIds).toEqual(['v1']);
    });
    await expect(lstat(path)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
