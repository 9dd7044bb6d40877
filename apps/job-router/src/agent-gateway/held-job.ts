import type { AttemptRef } from '@berth/contracts';
import { isGone, type HostId, type Job } from '@berth/domain';
import { readJob, type JobStore } from '@berth/jobs';

/**
 * The job, when this attempt of this host is, or was at its end, the one that owns it. Null: its time is over.
 * Where this router gave the attempt away itself, it need not ask: what others have made of it since is seen by the
 * compare-and-set that follows, and whatever lies beside the record belongs to its attempt alone.
 */
export async function readOwnJob(store: JobStore, hostId: HostId, ref: AttemptRef): Promise<Job | null> {
  const isOwn = (job: Job | null | undefined): job is Job =>
    job?.attempt === ref.attempt && job.current?.token === ref.token && job.current.hostId === hostId;
  const recalled = store.records.recall(ref)?.job;
  if (isOwn(recalled) && !isGone(recalled, store.clock.nowMs())) return recalled;
  const job = await readJob(store, ref);
  return isOwn(job) ? job : null;
}

/** Like `readOwnJob`, and the attempt still runs, as far as this router knows. */
export async function readHeldJob(store: JobStore, hostId: HostId, ref: AttemptRef): Promise<Job | null> {
  const job = await readOwnJob(store, hostId, ref);
  return job?.state === 'IN_PROGRESS' ? job : null;
}
