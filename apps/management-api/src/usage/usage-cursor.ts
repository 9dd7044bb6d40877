import type { EndpointId } from '@berth/domain';
import type { UsagePlace } from './usage-report.store.js';

const ID_MAX = 255;
const LATEST_MS = Date.UTC(3001);

/** As callers carry it: letters that a URL takes as they are. It names a place, and grants nothing. */
export const formatUsageCursor = ({ atMs, endpointId, gpuTypeId }: UsagePlace): string =>
  Buffer.from(JSON.stringify([atMs, endpointId, gpuTypeId])).toString('base64url');

/** Null where it is none. */
export function parseUsageCursor(cursor: string): UsagePlace | null {
  const text = Buffer.from(cursor, 'base64url').toString();
  let place: unknown;
  try {
    place = JSON.parse(text);
  } catch {
    // Text that is no JSON is no cursor, and is told so like any other that names no place.
    return null;
  }
  if (!Array.isArray(place)) return null;
  const [atMs, endpointId, gpuTypeId] = place as readonly unknown[];
  if (!isInstant(atMs) || !isPart(endpointId) || !isPart(gpuTypeId)) return null;
  const read: UsagePlace = { atMs, endpointId: endpointId as EndpointId | null, gpuTypeId };
  return formatUsageCursor(read) === cursor ? read : null;
}

/** Of the years that a range may have, and of those that it is rounded to. */
const isInstant = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < LATEST_MS;

/** What PostgreSQL takes for text, and is no longer than an id. */
const isPart = (value: unknown): value is string | null =>
  value === null || (typeof value === 'string' && value.length <= ID_MAX && !/[\0\p{Cs}]/u.test(value));
