import type { JobId } from '../ids.js';

/**
 * A job's place in a list of jobs. It never changes while the job exists, so pages that are cut at a place neither repeat
 * nor miss a job, whatever else begins, ends and expires between them.
 */
export interface PageKey {
  /** Submission, Unix ms. */
  readonly createdAtMs: number;
  readonly jobId: JobId;
}

/** Order of a list: the latest submission first, of one instant by id. Ids are compared byte by byte, as the database does. */
export const newestFirst = (a: PageKey, b: PageKey): number =>
  b.createdAtMs - a.createdAtMs || compareText(b.jobId, a.jobId);

export const isOlder = (key: PageKey, than: PageKey): boolean => newestFirst(key, than) > 0;

const compareText = (a: string, b: string): number => Number(a > b) - Number(a < b);

const RADIX = 36;
/** Nine digits reach into the sixth millennium, which every clock and database can tell. */
const CURSOR = /^([0-9a-z]{1,9})\.([A-Za-z0-9_-]{1,128})$/;

/** A place as clients carry it: it goes on below that job, and means nothing else to them. */
export const formatPageCursor = ({ createdAtMs, jobId }: PageKey): string => `${createdAtMs.toString(RADIX)}.${jobId}`;

/** Null where the text is no cursor of ours. */
export function parsePageCursor(text: string): PageKey | null {
  const [, instant, jobId] = CURSOR.exec(text) ?? [];
  if (instant === undefined || jobId === undefined) return null;
  return { createdAtMs: Number.parseInt(instant, RADIX), jobId: jobId as JobId };
}
