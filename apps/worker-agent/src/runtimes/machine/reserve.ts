import { GIB, MIB } from '@berth/domain';

/** What workers never get, in bytes; null: a share of what the machine has. */
export interface Reserve {
  readonly memoryBytes: number | null;
  readonly diskBytes: number | null;
}

/** Nothing that an operator has said. */
export const USUAL_RESERVE: Reserve = { memoryBytes: null, diskBytes: null };

const MEMORY_LEAST_BYTES = 512 * MIB;
const DISK_LEAST_BYTES = 10 * GIB;
const SHARE = 0.05;
/** A small machine keeps less than the least, or it would have nothing to give. */
const SHARE_MAX = 0.125;

/** What is kept of the memory for the system, the agent and the engine. */
export const reservedMemory = (totalBytes: number, { memoryBytes }: Reserve): number =>
  memoryBytes ?? usual(totalBytes, MEMORY_LEAST_BYTES);

/** What is kept of the disk for images, logs and the journal. @param totalBytes of the whole file system */
export const reservedDisk = (totalBytes: number, { diskBytes }: Reserve): number =>
  diskBytes ?? usual(totalBytes, DISK_LEAST_BYTES);

const usual = (totalBytes: number, leastBytes: number): number =>
  Math.round(Math.min(Math.max(leastBytes, SHARE * totalBytes), SHARE_MAX * totalBytes));
