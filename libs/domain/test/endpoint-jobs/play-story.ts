import { expect } from '@jest/globals';
import { overdueAtMs } from '../../src/endpoint-jobs/state.js';
import {
  nextLookAtMs,
  viewDemand,
  viewHealth,
  viewJobs,
  viewPosition,
  viewStatus,
} from '../../src/endpoint-jobs/views.js';
import { findExpired } from '../../src/endpoint-jobs/decide/decide-command.js';
import { JOB_STATES, disappearsAtMs } from '../../src/job/index.js';
import type { CommandAnswer } from '../../src/endpoint-jobs/commands.js';
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
    if (answer.kind === 'looked') teller.tries.push(...answer.tries);
    watch(real, teller);
    // Neither looks at lives that are over.
    if (answer.kind === 'dropped' || answer.kind === 'opened') continue;
    expect(visibleOf(real, nowMs)).toEqual(visibleOfModel(model, nowMs));
    checkHeaps(real, nowMs);
  }
  expectSameReplay(real, nowMs);
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
}

const ALL = new Set(JOB_STATES);

function visibleOf({ state }: OwnedLog, nowMs: number): object {
  const listed = viewJobs(state, { before: null, limit: 1_000, statuses: ALL }).entries;
  const { endedLastMinute: _, executionMsLastMinute: __, ...demand } = viewDemand(state, nowMs);
  return {
    jobs: listed.map(({ jobId }) => {
      const view = viewStatus(state, jobId, nowMs);
      const data = state.jobs.get(jobId)?.data;
      return {
        ...{ id: jobId, state: view?.state, delay: view?.delayTimeMs, run: view?.executionTimeMs },
        ...{ error: view?.error === null ? null : 'told', hasOutput: (data?.outputBytes ?? 0) > 0 },
        ...{ attempt: data?.attempt, charged: data?.charged, worker: view?.workerId ?? null },
        position: viewPosition(state, jobId),
        past: data?.history.map(({ attempt, outcome, stoppedAtMs }) => [attempt, outcome, stoppedAtMs]),
      };
    }),
    health: viewHealth(state),
    demand,
    deliveries: [...state.deliveries.values()]
      .map(({ data, name }) => [name, data.tries.length, data.claim?.token ?? null])
      .toSorted(),
  };
}

function visibleOfModel(model: NaiveEndpoint, nowMs: number): object {
  const waiting = model.waiting();
  const running = model.jobs.filter(({ state }) => state === 'IN_PROGRESS');
  const { completed, failed, retried, timedOut } = model.counters;
  const listed = model.jobs.toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
  return {
    jobs: listed.map((job) => ({
      ...{ id: job.id, state: job.state, ...timesOf(job, nowMs), error: job.error === null ? null : 'told' },
      ...{ hasOutput: job.output !== null, attempt: job.attempt, charged: job.charged },
      worker: job.holder?.worker ?? null,
      position: job.state === 'IN_QUEUE' ? waiting.indexOf(job) + 1 : null,
      past: job.past.map(({ attempt, outcome, stoppedAt }) => [attempt, outcome, stoppedAt]),
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
    ...[...state.deliveries.values()].map(({ data }) => Math.max(data.nextAtMs, data.claim?.untilMs ?? 0)),
  ];
  expect(nextLookAtMs(state)).toBe(Math.min(...instants));
  expect(findExpired(state, nowMs)).toBeNull();
  expect([state.lives.size, state.bySubmission.size]).toEqual([jobs.length, jobs.length]);
}
