import { statfs } from 'node:fs/promises';
import { GIB } from '@berth/domain';
import { ConfigError } from '@berth/lifecycle';

const LEAST_BYTES = GIB;
const MOST_BYTES = 16 * GIB;
/** Of what is free: database, logs and images want their part. */
const SHARE = 1 / 3;

/**
 * Room for the broker's streams. They refuse new jobs when it is used up, long before the disk is full.
 *
 * @throws ConfigError when the disk has too little left
 */
export async function chooseStorage(home: string): Promise<number> {
  const disk = await statfs(home);
  const storageBytes = Math.floor(Math.min(MOST_BYTES, disk.bavail * disk.bsize * SHARE));
  if (storageBytes < LEAST_BYTES) {
    throw new ConfigError([`BERTH_HOME: ${home} has too little room: 3 GiB free disk are needed.`]);
  }
  return storageBytes;
}
