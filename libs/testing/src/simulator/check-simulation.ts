import { ATTEMPTS_MAX, canMove, isEnded, type Job, type JobId } from '@berth/domain';
import type { Observation } from './history.js';
import type { SimulationLog } from './simulate.js';

/** A broken promise, named as in the design's list of invariants. */
export interface Violation {
  readonly invariant: string;
  readonly jobId: JobId;
  readonly detail: string;
}

const VISIBILITY_SLACK_MS = 2_000;

/** Reads the log of one run and names every invariant that it breaks. Pure. */
export function checkSimulation(log: SimulationLog): readonly Violation[] {
  const versions = Map.groupBy(log.versions, ({ job }) => job.id);
  const observations = Map.groupBy(log.observations, ({ jobId }) => jobId);
  const jobIds = new Set([...versions.keys(), ...observations.keys()]);
  return [...jobIds].flatMap((jobId) => {
    const records = (versions.get(jobId) ?? []).map(({ job }) => job);
    const seen = observations.get(jobId) ?? [];
    return [
      ...checkAcceptance(jobId, records, seen),
      ...checkTransitions(jobId, records),
      ...checkFence(jobId, records),
      ...checkExecutions(jobId, seen),
      ...checkCancel(jobId, records, seen),
      ...checkTickets(jobId, seen),
      ...checkVisibility(jobId, seen),
    ];
  });
}

/** I1: what was accepted is in the store, and ends unless its TTL comes first. */
function checkAcceptance(jobId: JobId, records: readonly Job[], seen: readonly Observation[]): Violation[] {
  const accepted = seen.find((each) => each.kind === 'accepted');
  if (accepted === undefined) return [];
  const last = records.at(-1);
  if (last === undefined) return [{ invariant: 'I1', jobId, detail: 'accepted but never stored' }];
  return [];
}

/** I2, I5, I7: legal moves only, one end, every requeue a new attempt, every attempt taken once, losses bounded. */
function checkTransitions(jobId: JobId, records: readonly Job[]): Violation[] {
  const violations: Violation[] = [];
  const report = (invariant: string, detail: string): number => violations.push({ invariant, jobId, detail });
  const takenAttempts = new Set<number>();
  for (const [index, job] of records.entries()) {
    const before = records[index - 1];
    if (job.charged > ATTEMPTS_MAX) report('I5', `${job.charged} losses charged`);
    if (before === undefined) continue;
    if (isEnded(before.state)) report('I2', `${before.state} was followed by ${job.state}`);
    if (job.state !== before.state && !canMove(before.state, job.state)) report('I2', `${before.state} → ${job.state}`);
    if (job.state === 'IN_QUEUE' && job.attempt !== before.attempt + 1) report('I5', 'requeued as the same attempt');
    if (job.state === 'IN_PROGRESS' && takenAttempts.has(job.attempt))
      report('I7', `attempt ${job.attempt} taken twice`);
    if (job.state === 'IN_PROGRESS') takenAttempts.add(job.attempt);
  }
  return violations;
}

/** I3: the visible output is the one that the current attempt made. */
function checkFence(jobId: JobId, records: readonly Job[]): Violation[] {
  return records
    .filter((job) => job.state === 'COMPLETED' && job.output?.kind === 'inline')
    .filter((job) => job.output?.kind === 'inline' && job.output.json !== `{"attempt":${job.attempt}}`)
    .map((job) => ({ invariant: 'I3', jobId, detail: `attempt ${job.attempt} shows another attempt's output` }));
}

/** I4: no two attempts of a job run at the same time, unless the first one's host stood still. */
function checkExecutions(jobId: JobId, seen: readonly Observation[]): Violation[] {
  const running = new Set<number>();
  const violations: Violation[] = [];
  for (const each of seen) {
    if (each.kind === 'stopped' || each.kind === 'frozen') running.delete(each.attempt);
    if (each.kind !== 'started') continue;
    if (running.size > 0) violations.push({ invariant: 'I4', jobId, detail: `${[...running].join()} still ran` });
    running.add(each.attempt);
  }
  return violations;
}

/** I6: once the caller has heard CANCELLED the job never completes. */
function checkCancel(jobId: JobId, records: readonly Job[], seen: readonly Observation[]): Violation[] {
  const isPromised = seen.some((each) => each.kind === 'cancelled');
  const last = records.at(-1);
  if (!isPromised || last === undefined || last.state === 'CANCELLED') return [];
  return [{ invariant: 'I6', jobId, detail: `cancelled, then ${last.state}` }];
}

/** I7: a hint outlives the wait that it hints at, unless the broker itself lost it. */
const checkTickets = (jobId: JobId, seen: readonly Observation[]): Violation[] =>
  seen
    .filter((each) => each.kind === 'ticket-dropped-early')
    .map(({ attempt }) => ({ invariant: 'I7', jobId, detail: `ticket of attempt ${attempt} removed while it waited` }));

/** I8: found until its TTL, and not found soon after. */
function checkVisibility(jobId: JobId, seen: readonly Observation[]): Violation[] {
  const accepted = seen.find((each) => each.kind === 'accepted');
  if (accepted === undefined) return [];
  return seen
    .filter((each) => each.kind === 'seen')
    .filter(({ atMs, isFound }) =>
      isFound ? atMs > accepted.expiresAtMs + VISIBILITY_SLACK_MS : atMs < accepted.expiresAtMs,
    )
    .map(({ isFound }) => ({
      invariant: 'I8',
      jobId,
      detail: isFound ? 'found after its TTL' : 'lost before its TTL',
    }));
}
