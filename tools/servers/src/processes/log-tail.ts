import { open } from 'node:fs/promises';

const TAIL_BYTES = 4_096;

/** The last 4 KiB of a log file that lie behind `from`, or nothing when there is no such file. */
export const readLogTail = async (path: string, from: number): Promise<string> => {
  try {
    const file = await open(path, 'r');
    try {
      const { size } = await file.stat();
      const start = Math.max(from, size - TAIL_BYTES);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(TAIL_BYTES), 0, TAIL_BYTES, start);
      return buffer.subarray(0, bytesRead).toString('utf8').trim();
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
};
