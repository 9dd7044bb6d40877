import type { GpuRequest } from './compute-request.js';

export interface CudaVersion {
  readonly major: number;
  readonly minor: number;
}

const PATTERN = /^(\d+)\.(\d+)$/;

/** Null for text that is not `major.minor`. */
export function parseCudaVersion(text: string): CudaVersion | null {
  const match = PATTERN.exec(text);
  return match === null ? null : { major: Number(match[1]), minor: Number(match[2]) };
}

/** Below zero when `a` is the older: each part compared as a number, so 12.11 is above 12.2. */
export const compareCudaVersions = (a: CudaVersion, b: CudaVersion): number => a.major - b.major || a.minor - b.minor;

/**
 * Whether a driver of this version may run the worker. Without constraint any host will do, also one that reports no
 * version; with one, a version that is missing or unreadable never does.
 *
 * @param hostVersion the driver's highest CUDA version, or null
 */
export function acceptsCudaVersion(
  request: Pick<GpuRequest, 'allowedCudaVersions' | 'minCudaVersion'>,
  hostVersion: string | null,
): boolean {
  const { allowedCudaVersions, minCudaVersion } = request;
  if (allowedCudaVersions.length === 0 && minCudaVersion === null) return true;
  const host = hostVersion === null ? null : parseCudaVersion(hostVersion);
  if (host === null) return false;
  const isAllowed = allowedCudaVersions.length === 0 || allowedCudaVersions.some((text) => isSame(text, host));
  return isAllowed && (minCudaVersion === null || isAtLeast(host, minCudaVersion));
}

function isSame(text: string, host: CudaVersion): boolean {
  const version = parseCudaVersion(text);
  return version !== null && compareCudaVersions(version, host) === 0;
}

function isAtLeast(host: CudaVersion, floorText: string): boolean {
  const floor = parseCudaVersion(floorText);
  return floor !== null && compareCudaVersions(host, floor) >= 0;
}
