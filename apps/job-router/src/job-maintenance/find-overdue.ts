import { TIMEOUT_GRACE_MS } from '@berth/jobs';
import type { JobSighting } from '../job-view/job-view.service.js';

/** Running jobs whose deadline, and the time in which their agent should have said so, are over. */
export function findOverdue(running: Iterable<JobSighting>, nowMs: number): readonly JobSighting[] {
  const overdue: JobSighting[] = [];
  for (const job of running) {
    if (job.deadlineAtMs !== null && nowMs >= job.deadlineAtMs + TIMEOUT_GRACE_MS) overdue.push(job);
  }
  return overdue;
}
