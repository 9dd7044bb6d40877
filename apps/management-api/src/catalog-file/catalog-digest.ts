import { createHash } from 'node:crypto';
import type { HardwareCatalog } from '@berth/domain';

/** The same for catalogs that say the same in the same order, however their files are written: 64 hexadecimal digits. */
export function catalogDigest({ cpuFlavors, dataCenters, gpuTypes }: HardwareCatalog): string {
  const content = JSON.stringify({ gpuTypes, cpuFlavors, dataCenters }, byName);
  return createHash('sha256').update(content).digest('hex');
}

/** Members of an object come in the order in which files name them, which means nothing. */
function byName(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
