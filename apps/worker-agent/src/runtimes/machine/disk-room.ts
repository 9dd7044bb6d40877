import { readFile, rename, statfs, writeFile } from 'node:fs/promises';
import { readJson } from '@berth/contracts';
import type { Logger } from '@berth/telemetry';

export interface DiskRoom {
  /** What workers may take together. */
  readonly freeBytes: number;
  /** Of the whole file system. */
  readonly totalBytes: number;
}

export interface DiskRoomOptions {
  /** Any folder on the file system that workers write to. */
  readonly folder: string;
  /** File that tells the agent's next life; absent: none does. */
  readonly record?: string;
  /** Whether workers of an earlier life are there. */
  readonly hasWorkers: boolean;
  readonly logger: Logger;
}

/**
 * Room on the disk at the agent's start, as if no worker had taken any: who places workers subtracts what they take, and it
 * must not be subtracted twice. Where workers of an earlier life are there, that life's reading stands.
 */
export async function readDiskRoom({ folder, hasWorkers, logger, record }: DiskRoomOptions): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(folder);
  const found = { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
  const noted = hasWorkers && record !== undefined ? await readRecord(record) : null;
  // A disk of another size is another disk.
  const room = noted?.totalBytes === found.totalBytes && noted.freeBytes > found.freeBytes ? noted : found;
  if (record !== undefined) {
    await writeRecord(record, room).catch((error: unknown) => {
      logger.warn('the room on the disk could not be noted; after a restart less will be reported', { error });
    });
  }
  return room;
}

async function readRecord(path: string): Promise<DiskRoom | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const reading = readJson(text);
  const { freeBytes, totalBytes } = (reading.kind === 'value' ? (reading.value ?? {}) : {}) as Partial<DiskRoom>;
  if (!Number.isSafeInteger(freeBytes) || !Number.isSafeInteger(totalBytes)) return null;
  return { freeBytes: Number(freeBytes), totalBytes: Number(totalBytes) };
}

async function writeRecord(path: string, room: DiskRoom): Promise<void> {
  await writeFile(`${path}.part`, JSON.stringify(room));
  await rename(`${path}.part`, path);
}
