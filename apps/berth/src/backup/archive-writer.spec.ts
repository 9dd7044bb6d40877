import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { eventually, ManualClock } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { expect, test } from '@jest/globals';
import { ArchiveWriter, PIECE_BYTES } from './archive-writer.js';
import type { BackupHead } from './backup-format.js';

const tempFolder = useTempFolders();
const HEAD: BackupHead = {
  ...{ format: 1, version: '1.2.3', id: 'b1', startedAtMs: 1, logFormat: 1 },
  ...{ migrations: ['First1'], keyFingerprints: ['f'] },
};
const END = { tables: [], partitions: [], sequences: [], streams: [], terms: {} };
/** Packs badly, and is more than what lies between an archive and its file. */
const RANDOM = Buffer.from(Array.from({ length: 4 * PIECE_BYTES }, (_, at) => (at * 2_654_435_761) >>> ((at % 3) * 8)));

const full = (): Promise<Writable> =>
  Promise.resolve(
    new Writable({
      write: (_chunk, _encoding, done) => {
        done(Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }));
      },
    }),
  );

/** It takes what it is given, and never says that it has. */
const stalled = (): Promise<Writable> => Promise.resolve(new Writable({ write: () => undefined }));

/** Until its end somewhere, whichever the first write is that fails. */
async function write(path: string, clock: ManualClock, open: () => Promise<Writable>): Promise<void> {
  const archive = await ArchiveWriter.create(path, HEAD, { clock, open });
  try {
    const pieces = archive.pieces('streams/LOG_0.1');
    await pieces.write(RANDOM);
    await pieces.end();
    await archive.finish(END);
  } catch (error) {
    await archive.discard();
    throw error;
  }
}

test('a disk that is full is named, with what to do, and nothing is left on it', async () => {
  const home = await tempFolder();
  const path = join(home, 'backup.tar.gz');
  await expect(write(path, new ManualClock(), full)).rejects.toMatchObject({
    name: 'CommandError',
    message: `${path} cannot be written: the disk is full.`,
    mend: expect.stringContaining('Make room'),
  });
  expect(await readdir(home)).toEqual([]);
});

test('a disk that takes nothing is named after a minute', async () => {
  const path = join(await tempFolder(), 'backup.tar.gz');
  const clock = new ManualClock();
  let told: unknown = null;
  const writing = write(path, clock, stalled).catch((error: unknown) => {
    told = error;
  });
  await eventually(async () => {
    if (told === null) await clock.advance(60_000);
    expect(told).toMatchObject({ name: 'CommandError', message: `The disk of ${path} has taken nothing for 60 s.` });
  });
  await writing;
});
