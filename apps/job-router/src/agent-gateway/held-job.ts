import type { AttemptRef } from '@berth/contracts';
import type { HostId, Job } from '@berth/domain';
import { readJob, type JobStore } from '@berth/jobs';

/** The job, when this attempt of this host is, or was at its end, the one that owns it. Null: its time is over. */
export async function readOwnJob(store: JobStore, hostId: HostId, ref: AttemptRef): Promise<Job | null> {
  const job = await readJob(store, ref);
  const owner = job?.current;
  const isOwner = job?.attempt === ref.attempt && owner?.token === ref.token && owner.hostId === hostId;
  return isOwner ? job : null;
}

/** Like `readOwnJob`, and the attempt still runs. */
export async function readHeldJob(store: JobStore, hostId: HostId, ref: AttemptRef): Promise<Job | null> {
  const job = await readOwnJob(store, hostId, ref);
  return job?.state === 'IN_PROGRESS' ? job : null;
}
