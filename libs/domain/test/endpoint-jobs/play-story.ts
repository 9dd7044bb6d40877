import { expect } from '@jest/globals';
import { overdueAtMs, type EndpointState } from '../../src/endpoint-jobs/state.js';
import {
  viewAssignment,
  viewDeliveries,
  viewDescription,
  viewHold,
  viewJob,
  viewJobs,
} from '../../src/endpoint-jobs/views/job-views.js';
import {
  nextLookAtMs,
  nextTryAtMs,
  viewDemand,
  viewHealth,
  viewPosition,
} from '../../src/endpoint-jobs/views/queue-views.js';
import { findExpired } from '../../src/endpoint-jobs/decide/decide-command.js';
import { JOB_STATES, disappearsAtMs } from '../../src/job/index.js';
import type { CommandAnswer } from '../../src/endpoint-jobs/commands.js';
import type { SeenJob } from '../../src/endpoint-jobs/views/job-views.js';
import type { EndpointId, HostId, JobId } from '../../src/ids.js';
import type { ListedJob } from '../../src/job-summary/index.js';
import { dumpState } from './dump-state.js';
import { NaiveEndpoint } from './naive-endpoint.js';
import { OwnedLog, type Doctor } from './owned-log.js';
import { StoryTeller, type Step } from './stories.js';

const T0 = 1_800_000_000_000;

/** Plays a story on the real rules and on the model, and holds one against the other after every step. */
export function playStory(story: readonly Step[], doctor?: Doctor): OwnedLog {
  const real = new OwnedLog(doctor);
  const model = new NaiveEndpoint();
  const teller = new StoryTeller();
  let nowMs = T0;
  real.performCommand({ kind: 'open', routerId: 'first' }, nowMs);
  for (const step of story) {
    nowMs += step.afterMs;
    if (step.does === 'commit') real.commit();
    if (step.does === 'carry') real.carry(nowMs, step.chance);
    if (step.does === 'hear') hear(real, model, nowMs);
    if (step.does === 'renew') {
      const proof = teller.proofOf(step);
      if (proof !== null) expect(real.renew(proof, nowMs)).toBe(model.renew(proof, nowMs));
    }
    const command = teller.commandOf(step, nowMs);
    if (command === null) continue;
    const answer = real.performCommand(command, nowMs);
    expect(comparable(answer)).toEqual(comparable(model.performCommand(command, nowMs)));
    if (answer.kind === 'begun' && command.kind === 'begin-try') teller.tries.push(command);
    watch(real, teller);
    // Neither looks at lives that are over.
    if (answer.kind === 'dropped' || answer.kind === 'opened') continue;
    expect(visibleOf(real, nowMs)).toEqual(visibleOfModel(model, nowMs));
    checkHeaps(real, nowMs);
  }
  expectSameReplay(real, nowMs);
  return real;
}

/** The log that a story leaves, by the real rules alone. Nothing of it is purged. */
export function writeStory(story: readonly Step[]): OwnedLog {
  const real = new OwnedLog({ purgeThrough: () => 0 });
  const teller = new StoryTeller();
  let nowMs = T0;
  real.performCommand({ kind: 'open', routerId: 'first' }, nowMs);
  for (const step of story) {
    nowMs += step.afterMs;
    if (step.does === 'commit') real.commit();
    if (step.does === 'carry') real.carry(nowMs, step.chance);
    if (step.does === 'hear') real.hear(nowMs);
    const proof = step.does === 'renew' ? teller.proofOf(step) : null;
    if (proof !== null) real.renew(proof, nowMs);
    const command = teller.commandOf(step, nowMs);
    if (command === null) continue;
    const answer = real.performCommand(command, nowMs);
    if (answer.kind === 'begun' && command.kind === 'begin-try') teller.tries.push(command);
    watch(real, teller);
  }
  return real;
}

export function expectSameReplay(real: OwnedLog, nowMs: number): void {
  real.commit();
  expect(dumpState(real.replay(), nowMs)).toEqual(dumpState(real.state, nowMs));
}

const comparable = (answer: CommandAnswer): unknown =>
  answer.kind === 'refused' ? { kind: answer.kind, reason: answer.reason } : answer;

function hear(real: OwnedLog, model: NaiveEndpoint, nowMs: number): void {
  real.hear(nowMs);
  for (const { holder, state } of model.jobs) {
    if (holder !== null && state === 'IN_PROGRESS') holder.lease = Math.max(holder.lease, nowMs + 15_000);
  }
}

/** Attempts that anybody may speak for from now on. */
function watch({ state }: OwnedLog, teller: StoryTeller): void {
  for (const { data } of state.running.values()) {
    const { attempt, current, jobId } = data;
    const isKnown = teller.proofs.some((proof) => proof.jobId === jobId && proof.attempt === attempt);
    if (current !== null && !isKnown) {
      teller.proofs.push({ jobId, attempt, token: current.token, hostId: current.hostId });
    }
  }
  teller.pending = [...state.deliveries.values()].map(({ data }) => data);
}

const ALL = new Set(JOB_STATES);

const ENDPOINT = 'e1' as EndpointId;

function visibleOf({ state }: OwnedLog, nowMs: number): object {
  const listed = viewJobs(state, { before: null, limit: 1_000, statuses: ALL, alsoIds: [] }, nowMs).entries;
  const { endedLastMinute: _, executionMsLastMinute: __, ...demand } = viewDemand(state, nowMs);
  return {
    jobs: listed.map((entry) => visibleJob(state, entry, nowMs)),
    health: viewHealth(state),
    demand,
    deliveries: [...state.deliveries.values()]
      .map(({ data, name }) => [name, data.tries.length, data.claim?.token ?? null])
      .toSorted(),
  };
}

function visibleJob(state: EndpointState, { queue, ...summary }: ListedJob, nowMs: number): object {
  const { jobId } = summary;
  const sight = viewJob(state, { endpointId: ENDPOINT, jobId }, nowMs);
  const described = viewDescription(state, jobId, nowMs);
  const data = state.jobs.get(jobId)?.data;
  // Every view of a job tells the same of it.
  expect(described).toMatchObject({ detail: summary, queue });
  expect(sight).toMatchObject({ state: summary.status, error: summary.error, workerId: summary.workerId });
  expect(sight?.queue).toEqual(queue === null ? null : expect.objectContaining({ position: queue.position }));
  expect(viewPosition(state, jobId)).toBe(sight?.queue?.position ?? null);
  return {
    ...{ id: jobId, state: sight?.state, delay: sight?.delayTimeMs, run: sight?.executionTimeMs },
    ...{ error: sight?.error === null ? null : 'told', hasOutput: hasOutput(sight), chunks: sight?.chunks },
    ...{ attempt: sight?.attempt, charged: data?.charged, retries: sight?.retries, worker: summary.workerId },
    ...{ createdAt: summary.createdAtMs, startedAt: summary.startedAtMs, endedAt: sight?.endedAtMs },
    ...{ expiresAt: sight?.expiresAtMs, queuedAt: sight?.queuedAtMs, isLow: sight?.isLowPriority },
    queue: queue === null ? null : { position: queue.position, running: queue.running, notBefore: queue.notBeforeMs },
    attempts: described?.detail.attemptList.map(({ attempt, outcome, stoppedAtMs }) => [attempt, outcome, stoppedAtMs]),
    started: summary.attempts,
    webhook: described?.detail.webhook,
    told: viewDeliveries(state, jobId)?.map((each) => [each.attempt, each.tries.length, each.isClaimed, each.outcome]),
    holder: holderOf(state, jobId, nowMs),
  };
}

const hasOutput = (sight: SeenJob | null): boolean => sight?.output.value != null || sight?.output.reference != null;

/** Who has it is the one whose word counts; nobody else's does. */
function holderOf(state: EndpointState, jobId: JobId, nowMs: number): string | null {
  const assignment = viewAssignment(state, jobId, nowMs);
  const data = state.jobs.get(jobId)?.data;
  const proof = { jobId, attempt: data?.attempt ?? 0, token: 'forged', hostId: 'h0' as HostId };
  expect(viewHold(state, proof)).toBeNull();
  if (assignment === null) return null;
  const { attempt, hostId, token } = assignment;
  expect(viewHold(state, { jobId, attempt, hostId, token })).toMatchObject({ createdAtMs: data?.createdAtMs });
  expect(viewHold(state, { jobId, attempt: attempt + 1, hostId, token })).toBeNull();
  return token;
}

function visibleOfModel(model: NaiveEndpoint, nowMs: number): object {
  const waiting = model.waiting();
  const running = model.jobs.filter(({ state }) => state === 'IN_PROGRESS');
  const { completed, failed, retried, timedOut } = model.counters;
  const listed = model.jobs.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  return {
    jobs: listed.map((job) => ({
      ...{ id: job.id, state: job.state, ...timesOf(job, nowMs), error: job.error === null ? null : 'told' },
      ...{ hasOutput: job.output !== null, attempt: job.attempt, charged: job.charged, chunks: job.chunks },
      ...{ retries: Math.min(job.charged, 2), worker: job.holder?.worker ?? null },
      ...{ createdAt: job.createdAt, startedAt: job.holder?.at ?? null, endedAt: job.endedAt },
      ...{ expiresAt: job.expiresAt, queuedAt: job.queuedAt, isLow: job.isLow },
      queue:
        job.state === 'IN_QUEUE'
          ? { position: waiting.indexOf(job) + 1, running: running.length, notBefore: job.notBefore }
          : null,
      attempts: [
        ...job.past.map(({ attempt, outcome, stoppedAt }) => [attempt, outcome, stoppedAt]),
        ...(job.state === 'IN_PROGRESS' ? [[job.attempt, null, null]] : []),
      ],
      started: job.holder === null ? job.attempt - 1 : job.attempt,
      webhook: job.webhook ? 'https://example.com' : null,
      told: model.deliveries
        .filter(({ jobId }) => jobId === job.id)
        .map(({ attempt, claim, outcome, tries }) => [attempt, tries, claim !== null, outcome]),
      holder: job.state === 'IN_PROGRESS' ? (job.holder?.token ?? null) : null,
    })),
    health: { completed, failed: failed + timedOut, inProgress: running.length, inQueue: waiting.length, retried },
    demand: {
      queuedNormal: waiting.filter(({ isLow }) => !isLow).length,
      queuedLow: waiting.filter(({ isLow }) => isLow).length,
      running: running.length,
      runningLow: running.filter(({ isLow }) => isLow).length,
      oldestQueuedAtMs: waiting.find(({ isLow }) => !isLow)?.queuedAt ?? null,
    },
    deliveries: model.deliveries
      .filter(({ outcome }) => outcome === null)
      .map(({ attempt, claim, jobId, tries }) => [`${jobId}/${attempt}`, tries, claim?.token ?? null])
      .toSorted(),
  };
}

function timesOf(
  { endedAt, holder, queuedAt }: { endedAt: number | null; holder: { at: number } | null; queuedAt: number },
  nowMs: number,
): { delay: number; run: number } {
  const until = endedAt ?? nowMs;
  return holder === null
    ? { delay: until - queuedAt, run: 0 }
    : { delay: holder.at - queuedAt, run: until - holder.at };
}

/** What the heaps say is what a walk over everything finds. */
function checkHeaps({ state }: OwnedLog, nowMs: number): void {
  const jobs = [...state.jobs.values()];
  const instants = [
    ...jobs.map(({ data }) => disappearsAtMs(data)),
    ...jobs.flatMap(({ data, isReady }) => (data.state === 'IN_QUEUE' && !isReady ? [data.notBeforeMs] : [])),
    ...jobs.flatMap((job) =>
      job.data.state === 'IN_PROGRESS' ? [Math.min(job.leaseUntilMs, overdueAtMs(job.data))] : [],
    ),
  ];
  expect(nextLookAtMs(state)).toBe(Math.min(...instants));
  const tries = [...state.deliveries.values()].map(({ data }) => Math.max(data.nextAtMs, data.claim?.untilMs ?? 0));
  expect(nextTryAtMs(state)).toBe(Math.min(...tries));
  expect(findExpired(state, nowMs)).toBeNull();
  expect([state.lives.size, state.bySubmission.size]).toEqual([jobs.length, jobs.length]);
}
