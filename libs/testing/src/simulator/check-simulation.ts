import {
  ATTEMPTS_MAX,
  canMove,
  disappearsAtMs,
  encodeJson,
  isEnded,
  isPurged,
  type AttemptRecord,
  type Job,
  type JobId,
  type JobState,
} from '@berth/domain';
import type { RecordVersion } from './broker-model.js';
import type { JobObservation } from './history.js';
import type { SimulationLog } from './simulate.js';

/** A broken promise, named as in the design's list of invariants. */
export interface Violation {
  readonly invariant: string;
  /** Null: of the run as a whole. */
  readonly jobId: JobId | null;
  readonly detail: string;
}

const VISIBILITY_SLACK_MS = 2_000;

/** All that a run shows of one job, in order. */
interface JobStory {
  readonly jobId: JobId;
  readonly versions: readonly RecordVersion[];
  readonly records: readonly Job[];
  readonly seen: readonly JobObservation[];
  /** Of the whole run. */
  readonly endedAtMs: number;
}

/** Reads the log of one run and names every invariant that it breaks. Pure. */
export function checkSimulation(log: SimulationLog): readonly Violation[] {
  const versions = Map.groupBy(log.versions, ({ job }) => job.id);
  const observations = Map.groupBy(
    log.observations.filter((each) => each.kind !== 'purged'),
    ({ jobId }) => jobId,
  );
  const jobIds = new Set([...versions.keys(), ...observations.keys()]);
  const ofJobs = [...jobIds].flatMap((jobId) => {
    const own = versions.get(jobId) ?? [];
    const records = own.map(({ job }) => job);
    const story = { jobId, versions: own, records, seen: observations.get(jobId) ?? [], endedAtMs: log.endedAtMs };
    return CHECKS.flatMap((check) => check(story));
  });
  return [...ofJobs, ...checkPurges(log)];
}

/** I1: what was accepted is in the store, and ends unless its TTL comes first. */
function checkAcceptance({ jobId, records, seen }: JobStory): Violation[] {
  const isAccepted = seen.some((each) => each.kind === 'accepted');
  return isAccepted && records.length === 0 ? [{ invariant: 'I1', jobId, detail: 'accepted but never stored' }] : [];
}

/** I2, I5, I7: legal moves only, every queueing a new attempt, every attempt taken once and purged only from the queue. */
function checkTransitions({ jobId, records }: JobStory): Violation[] {
  const violations: Violation[] = [];
  const report = (invariant: string, detail: string): number => violations.push({ invariant, jobId, detail });
  const takenAttempts = new Set<number>();
  for (const [index, job] of records.entries()) {
    const before = records[index - 1];
    if (job.charged > ATTEMPTS_MAX) report('I5', `${job.charged} losses charged`);
    if (before === undefined) continue;
    const isMove = job.state !== before.state;
    if (isPurged(before)) report('I7', `purged, then ${job.state}`);
    else if (isPurged(job) && isMove) report('I7', `purged while ${before.state}`);
    else if (isMove && !canMove(before.state, job.state)) report('I2', `${before.state} → ${job.state}`);
    if (job.attempt !== before.attempt + (isMove && job.state === 'IN_QUEUE' ? 1 : 0)) {
      report('I5', `${before.state} ${before.attempt} became ${job.state} ${job.attempt}`);
    }
    if (job.state !== 'IN_PROGRESS') continue;
    const isRetaken = isMove ? takenAttempts.has(job.attempt) : job.current?.token !== before.current?.token;
    if (isRetaken) report('I7', `attempt ${job.attempt} taken twice`);
    takenAttempts.add(job.attempt);
  }
  return violations;
}

/** I2: an end stays the end, unless a caller has asked for another attempt, and each question brings one at most. */
function checkRetries({ jobId, records, seen }: JobStory): Violation[] {
  const asked = seen.filter((each) => each.kind === 'retry-asked').length;
  const retries = records.flatMap((job, index) => {
    const before = records[index - 1];
    return before !== undefined && isEnded(before.state) && job.state === 'IN_QUEUE' ? [{ before, job }] : [];
  });
  const leftovers = retries.filter(
    ({ job }) => job.output !== null || job.error !== null || job.chunks > 0 || job.current !== null || job.charged > 0,
  );
  const changed = retries.filter(({ before, job }) => encodeJson(job.input) !== encodeJson(before.input));
  return [
    ...(retries.length > asked
      ? [{ invariant: 'I2', jobId, detail: `${retries.length} retries, ${asked} asked` }]
      : []),
    ...leftovers.map(({ job }) => ({ invariant: 'I3', jobId, detail: `retry ${job.attempt} shows an old result` })),
    ...changed.map(({ job }) => ({ invariant: 'I13', jobId, detail: `retry ${job.attempt} has another input` })),
  ];
}

/** I3: the visible output is the one that the current attempt made. */
function checkFence({ jobId, records }: JobStory): Violation[] {
  return records
    .filter(({ output, attempt }) => output?.kind === 'inline' && output.json !== encodeJson({ attempt }))
    .map(({ attempt }) => ({ invariant: 'I3', jobId, detail: `attempt ${attempt} shows another attempt's output` }));
}

/** I4: no two attempts of a job run at the same time, unless the first one's host stood still. */
function checkExecutions({ jobId, seen }: JobStory): Violation[] {
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

/** I6: a cancelled job never completes, and stays cancelled once the caller has heard so. */
function checkCancel({ jobId, records, seen }: JobStory): Violation[] {
  const isPromised = seen.some((each) => each.kind === 'cancelled');
  const firstAt = records.findIndex(({ state }) => state === 'CANCELLED');
  const afterwards = firstAt < 0 ? [] : records.slice(firstAt).filter(({ state }) => state !== 'CANCELLED');
  if (afterwards.length === 0 && (!isPromised || firstAt >= 0)) return [];
  return [{ invariant: 'I6', jobId, detail: `cancelled, then ${afterwards[0]?.state ?? records.at(-1)?.state}` }];
}

/** I14: when the worker of a stopped attempt let go is told as it was, once, and of each that can still be asked about. */
function checkStops({ jobId, records, seen, endedAtMs }: JobStory): Violation[] {
  const letGo = seen.filter((each) => each.kind === 'let-go');
  const isTrue = ({ attempt, stoppedAtMs }: AttemptRecord): boolean =>
    stoppedAtMs === null || letGo.some((each) => each.attempt === attempt && each.atMs === stoppedAtMs);
  const last = records.at(-1);
  const isMissing =
    last !== undefined &&
    STOPPED_STATES.includes(last.state) &&
    disappearsAtMs(last) > endedAtMs &&
    last.history.at(-1)?.stoppedAtMs === null &&
    letGo.some(({ attempt }) => attempt === last.attempt);
  return [
    ...records
      .flatMap(({ history }) => history.filter((each) => !isTrue(each)))
      .map(({ attempt }) => `${attempt} is wrong`),
    ...(isMissing ? [`${last.attempt} is not told`] : []),
  ].map((detail) => ({ invariant: 'I14', jobId, detail: `the stop of attempt ${detail}` }));
}

const STOPPED_STATES: readonly JobState[] = ['CANCELLED', 'TIMED_OUT'];

/** I7: a hint outlives the wait that it hints at, unless the broker itself lost it. */
const checkTickets = ({ jobId, seen }: JobStory): Violation[] =>
  seen
    .filter((each) => each.kind === 'ticket-dropped-early')
    .map(({ attempt }) => ({ invariant: 'I7', jobId, detail: `ticket of attempt ${attempt} removed while it waited` }));

/** I8: found until its life is over, whatever was asked of it since, and not found soon after; a purge takes it at once. */
function checkVisibility({ jobId, versions, seen }: JobStory): Violation[] {
  return seen
    .filter((each) => each.kind === 'seen')
    .flatMap(({ askedAtMs, atMs, isFound }) => {
      const inForce = versions.findLast((version) => version.atMs <= askedAtMs);
      const hasChanged = versions.some((version) => version.atMs > askedAtMs && version.atMs <= atMs);
      if (inForce === undefined || hasChanged) return [];
      const slackMs = isPurged(inForce.job) ? 0 : VISIBILITY_SLACK_MS;
      const endsAtMs = disappearsAtMs(inForce.job);
      if (isFound && askedAtMs > endsAtMs + slackMs) return [{ invariant: 'I8', jobId, detail: 'found after its end' }];
      return !isFound && atMs < endsAtMs ? [{ invariant: 'I8', jobId, detail: 'lost before its end' }] : [];
    });
}

const CHECKS: readonly ((story: JobStory) => Violation[])[] = [
  checkAcceptance,
  checkTransitions,
  checkRetries,
  checkFence,
  checkExecutions,
  checkCancel,
  checkStops,
  checkTickets,
  checkVisibility,
];

/**
 * I7: purged + taken + cancelled + gone or waiting = queued. A version can leave the queue in one way only, so what can
 * be wrong is what callers were told: together the purges that answered removed no more than was removed, and exactly
 * that where all of them answered.
 */
function checkPurges({ versions, observations }: SimulationLog): Violation[] {
  const answers = observations.filter((each) => each.kind === 'purged').map(({ removed }) => removed);
  const told = answers.reduce<number>((sum, removed) => sum + (removed ?? 0), 0);
  const removed = versions.filter(({ job }) => isPurged(job)).length;
  const isExact = answers.includes(null) ? told <= removed : told === removed;
  return isExact
    ? []
    : [{ invariant: 'I7', jobId: null, detail: `purges told of ${told} jobs and removed ${removed}` }];
}
