import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ManualClock } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { inspectArchive, readFolders } from './archive-reader.js';
import { ArchiveWriter, PIECE_BYTES } from './archive-writer.js';
import { tableFolder, type BackupEnd, type BackupHead } from './backup-format.js';

const tempFolder = useTempFolders();

const HEAD: BackupHead = {
  ...{ format: 1, version: '1.2.3', id: 'b1', startedAtMs: 1, logFormat: 1 },
  ...{ migrations: ['First1'], keyFingerprints: ['f'] },
};
const TOOLS = { clock: new ManualClock() };
const END: Omit<BackupEnd, 'sha256'> = { tables: [], partitions: [], sequences: [], streams: [], terms: { 3: 7 } };

async function write(path: string, folders: Readonly<Record<string, readonly Uint8Array[]>>): Promise<void> {
  const archive = await ArchiveWriter.create(path, HEAD, TOOLS);
  for (const [folder, parts] of Object.entries(folders)) {
    const pieces = archive.pieces(folder);
    for (const part of parts) await pieces.write(part);
    await pieces.end();
  }
  await archive.finish(END);
}

async function read(path: string, wanted: (folder: string) => boolean): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const { folder, pieces } of readFolders(path)) {
    if (!wanted(folder)) continue;
    const parts: Uint8Array[] = [];
    for await (const piece of pieces) parts.push(piece);
    found[folder] = Buffer.concat(parts).toString('hex');
  }
  return found;
}

test('what was written is what is read, however it came, and what nobody wants is passed over', async () => {
  const home = await tempFolder();
  const parts = fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { minLength: 1, maxLength: 5 });
  const folders = fc.dictionary(fc.stringMatching(/^[a-z]{1,12}$/).map(tableFolder), parts, { maxKeys: 4 });
  let at = 0;
  await fc.assert(
    fc.asyncProperty(folders, fc.boolean(), async (given, isAll) => {
      const path = join(home, `${String((at += 1))}.tar.gz`);
      await write(path, given);
      expect(await inspectArchive(path)).toMatchObject({ head: HEAD, end: END });
      const isWanted = (folder: string): boolean => isAll || folder.length % 2 === 0;
      const expected = Object.entries(given).filter(([folder]) => isWanted(folder));
      const texts = expected.map(([folder, bytes]) => [folder, Buffer.concat(bytes).toString('hex')]);
      expect(await read(path, isWanted)).toEqual(Object.fromEntries(texts));
    }),
    { numRuns: 25 },
  );
});

test('pieces larger than an entry are divided, and come back as one', async () => {
  const path = join(await tempFolder(), 'large.tar.gz');
  const bytes = Buffer.alloc(3 * PIECE_BYTES + 17, 'abcdefg');
  await write(path, { 'streams/LOG_0.1': [bytes] });
  expect(await read(path, () => true)).toEqual({ 'streams/LOG_0.1': bytes.toString('hex') });
});

test('it is readable by its owner only, and there is no half of one', async () => {
  const home = await tempFolder();
  const path = join(home, 'backup.tar.gz');
  const archive = await ArchiveWriter.create(path, HEAD, TOOLS);
  await expect(ArchiveWriter.create(path, HEAD, TOOLS)).rejects.toThrow('another backup is under way');
  expect(await readdir(home)).toEqual(['backup.tar.gz.unfinished']);
  await archive.finish(END);
  expect(await readdir(home)).toEqual(['backup.tar.gz']);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await expect(ArchiveWriter.create(path, HEAD, TOOLS)).rejects.toThrow('is there already');
  const discarded = await ArchiveWriter.create(join(home, 'other.tar.gz'), HEAD, TOOLS);
  await discarded.discard();
  expect(await readdir(home)).toEqual(['backup.tar.gz']);
});

test('a file that is changed, cut off or continued anywhere is damaged', async () => {
  const home = await tempFolder();
  const [path, spoilt] = [join(home, 'good.tar.gz'), join(home, 'spoilt.tar.gz')];
  await write(path, { [tableFolder('jobs')]: [Buffer.from('one row\nanother row\n')] });
  const bytes = await readFile(path);
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: bytes.length - 1 }), async (length) => {
      await writeFile(spoilt, bytes.subarray(0, length));
      await expect(inspectArchive(spoilt)).rejects.toThrow(/is damaged|is no backup/);
    }),
    { numRuns: 20 },
  );
  // Packed well and with a good checksum of its packing, but with other content.
  const other = gunzipSync(bytes).toString('latin1').replace('one row', 'two row');
  await writeFile(spoilt, gzipSync(Buffer.from(other, 'latin1')));
  await expect(inspectArchive(spoilt)).rejects.toThrow('its checksum is another one');
});

test('another format is named with the version that reads it, and anything else is no backup', async () => {
  const home = await tempFolder();
  const path = join(home, 'newer.tar.gz');
  const newer = await ArchiveWriter.create(path, { ...HEAD, format: 2 as 1 }, TOOLS);
  await newer.finish(END);
  await expect(inspectArchive(path)).rejects.toThrow('is of format 2, and this version reads 1');
  await writeFile(join(home, 'text'), 'no archive');
  await expect(inspectArchive(join(home, 'text'))).rejects.toThrow('is damaged');
  await expect(inspectArchive(join(home, 'nothing'))).rejects.toThrow('cannot be read');
});

test.each([{ version: '1\u001b[2J' }, { migrations: ['First1', '\u202eevil'] }])(
  'what would be shown of a file that somebody has made up, %j, makes it damaged',
  async (made) => {
    const path = join(await tempFolder(), 'made-up.tar.gz');
    const archive = await ArchiveWriter.create(path, { ...HEAD, ...made }, TOOLS);
    await archive.finish(END);
    await expect(inspectArchive(path)).rejects.toThrow('is damaged');
  },
);
