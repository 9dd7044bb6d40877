import type { JobId } from '@berth/domain';
import {
  acceptReserved,
  newJobId,
  putTicket,
  storeJob,
  type ItemOutcome,
  type JobStore,
  type Reserved,
  type Submission,
} from '@berth/jobs';
import { isUnavailable } from '../patiently.js';

/** Records under way at one time for one list: enough to keep every shard busy. */
const PARALLEL = 32;

/** The jobs of one list. */
export interface Batch {
  readonly size: number;
  /** Null: the caller did not name the request. */
  readonly reserved: Reserved | null;
  readonly submissionOf: (item: number, id: JobId) => Omit<Submission, 'reservation'>;
}

/**
 * Accepts each job of a list by itself; those that cannot be stored do not take the others with them. Once the store does
 * not answer the rest is not tried: it would only keep the caller waiting.
 */
export async function acceptBatch(store: JobStore, batch: Batch): Promise<readonly ItemOutcome[]> {
  const { reserved, size, submissionOf } = batch;
  const groups = Array.from({ length: Math.ceil(size / PARALLEL) }, (_, at) =>
    Array.from({ length: Math.min(PARALLEL, size - at * PARALLEL) }, (__, offset) => at * PARALLEL + offset),
  );
  const outcomes: ItemOutcome[] = [];
  let outage: ItemOutcome | undefined;
  for (const group of groups) {
    const made =
      outage === undefined
        ? await acceptGroup(store, { group, reserved, submissionOf })
        : group.map(() => outage as ItemOutcome);
    outage ??= made.find((outcome) => outcome.kind === 'failed' && isUnavailable(outcome.error));
    outcomes.push(...made);
  }
  return outcomes;
}

/** Records side by side, then the tickets in the list's order, so that the jobs start in it. */
async function acceptGroup(
  store: JobStore,
  { group, reserved, submissionOf }: Omit<Batch, 'size'> & { readonly group: readonly number[] },
): Promise<readonly ItemOutcome[]> {
  if (reserved === null) return acceptUnnamed(store, group, submissionOf);
  const items = group.map((item) => ({ item, submissionOf: (id: JobId) => submissionOf(item, id) }));
  return acceptReserved(store, reserved, items).catch((error: unknown) =>
    group.map(() => ({ kind: 'failed', error }) as const),
  );
}

async function acceptUnnamed(
  store: JobStore,
  group: readonly number[],
  submissionOf: Batch['submissionOf'],
): Promise<readonly ItemOutcome[]> {
  const made = await Promise.allSettled(
    group.map(async (item) => {
      const id = newJobId(store, 'run');
      return storeJob(store, id, { ...submissionOf(item, id), reservation: null });
    }),
  );
  const jobs = made.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
  await Promise.all(jobs.map((job) => putTicket(store, job)));
  return made.map((outcome) =>
    outcome.status === 'fulfilled'
      ? { kind: 'accepted', id: outcome.value.id }
      : { kind: 'failed', error: outcome.reason as unknown },
  );
}
