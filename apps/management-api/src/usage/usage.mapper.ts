import type { UsageBody, UsageListBody } from '@berth/contracts/http';
import type { UsageBucket, UsageRange } from '@berth/domain';
import { formatUsageCursor } from './usage-cursor.js';
import type { UsageSum } from './usage-report.store.js';

const SECOND_MS = 1_000;

interface Told extends UsageRange {
  readonly bucket: UsageBucket;
  readonly countedUntilMs: number;
  readonly limit: number;
}

const instant = (atMs: number): string => new Date(atMs).toISOString();

/** @param sums at most one more than are told; one more says that there are others */
export function toUsageListBody(
  sums: readonly UsageSum[],
  { bucket, countedUntilMs, endMs, limit, startMs }: Told,
): UsageListBody {
  const page = sums.slice(0, limit);
  const last = sums.length > limit ? page.at(-1) : undefined;
  return {
    bucket,
    start: instant(startMs),
    end: instant(endMs),
    countedUntil: instant(countedUntilMs),
    usage: page.map(toUsageBody),
    cursor: last === undefined ? null : formatUsageCursor(last),
  };
}

const toUsageBody = ({ atMs, endpointId, endpointName, gpuTypeId, ...sum }: UsageSum): UsageBody => ({
  start: instant(atMs),
  ...(endpointId === null ? {} : { endpointId, endpointName }),
  ...(gpuTypeId === null ? {} : { gpuTypeId: gpuTypeId === '' ? null : gpuTypeId }),
  workerSeconds: sum.workerMs / SECOND_MS,
  gpuSeconds: sum.gpuMs / SECOND_MS,
  pausedWorkerSeconds: sum.pausedWorkerMs / SECOND_MS,
  pausedGpuSeconds: sum.pausedGpuMs / SECOND_MS,
});
