import type { EndpointId, JobState, PageKey, Slice } from '@berth/domain';
import type { JobSighting, JobView } from '../job-view/job-view.service.js';

/** Jobs looked at for one page: where few have the wanted status, the page ends here and the next goes on. */
export const SCAN_MAX = 50_000;

/** The jobs whose records exist, as this router sees them, that a page may hold: one more than its limit. */
export function liveSlice(
  view: Pick<JobView, 'newestFirst'>,
  endpointId: EndpointId,
  { before, limit, statuses }: { before: PageKey | null; limit: number; statuses: ReadonlySet<JobState> },
): Slice<PageKey> {
  const entries: PageKey[] = [];
  let scanned = 0;
  for (const job of view.newestFirst(endpointId, before)) {
    scanned += 1;
    if (statuses.has(job.state)) entries.push(keyOf(job));
    if (entries.length > limit || scanned === SCAN_MAX) return { entries, through: keyOf(job) };
  }
  return { entries, through: null };
}

const keyOf = ({ createdAtMs, jobId }: JobSighting): PageKey => ({ createdAtMs, jobId });
