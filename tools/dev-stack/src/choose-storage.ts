import { statfs } from 'node:fs/promises';
import { ConfigError } from '@berth/lifecycle';

const GIB = 1024 ** 3;
const JOBS_LEAST_BYTES = GIB;
const JOBS_MOST_BYTES = 16 * GIB;
const SNAPSHOTS_BYTES = GIB / 4;
/** Of what is free: database, logs and images want their part. */
const SHARE = 1 / 3;

/**
 * Room for the broker's streams. They refuse new jobs when it is used up, long before the disk is full.
 *
 * @throws ConfigError when the disk has too little left
 */
export async function chooseStorage(
  home: string,
): Promise<{ readonly jobsBytes: number; readonly snapshotsBytes: number }> {
  const disk = await statfs(home);
  const jobsBytes = Math.floor(Math.min(JOBS_MOST_BYTES, disk.bavail * disk.bsize * SHARE));
  if (jobsBytes < JOBS_LEAST_BYTES) {
    throw new ConfigError([`BERTH_HOME: ${home} has too little room: 3 GiB free disk are needed.`]);
  }
  return { jobsBytes, snapshotsBytes: SNAPSHOTS_BYTES };
}
