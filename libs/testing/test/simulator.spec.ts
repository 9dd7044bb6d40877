import { describe, expect, test } from '@jest/globals';
import { finishJob, loseAttempt, takeJob, type Job, type Verdict } from '@berth/domain';
import { changeJob } from '@berth/jobs';
import { REAL_OPERATIONS, type Operations } from '../src/simulator/operations.js';
import { checkSimulation, type Violation } from '../src/simulator/check-simulation.js';
import { simulate } from '../src/simulator/simulate.js';
import { readSimulatorConfig } from './config.js';

const { firstSeed: FIRST_SEED, seeds: SEEDS } = readSimulatorConfig();
const JOBS = 4;
/** A doctored bug must show well within the seeds of one ordinary run. */
const SEEDS_TO_FIND_A_BUG = 2_000;

async function violationsOf(seed: number, operations?: Operations): Promise<readonly Violation[]> {
  return checkSimulation(await simulate({ seed, jobs: JOBS, ...(operations && { operations }) }));
}

async function firstViolation(operations: Operations): Promise<Violation | undefined> {
  for (let seed = 1; seed <= SEEDS_TO_FIND_A_BUG; seed += 1) {
    const [violation] = await violationsOf(seed, operations);
    if (violation !== undefined) return violation;
  }
  return undefined;
}

describe('the life of a job under crashes between any two writes', () => {
  test(`keeps every invariant for ${SEEDS} seeds`, async () => {
    for (let seed = FIRST_SEED; seed < FIRST_SEED + SEEDS; seed += 1) {
      const violations = await violationsOf(seed);
      if (violations.length > 0) throw new Error(`seed ${seed}: ${JSON.stringify(violations)}`);
    }
  }, 600_000);

  test('is the same run for the same seed', async () => {
    const [first, second] = [await simulate({ seed: 7, jobs: JOBS }), await simulate({ seed: 7, jobs: JOBS })];
    expect(second).toEqual(first);
  });
});

describe('doctored bugs are found', () => {
  test('a result is accepted without comparing the attempt', async () => {
    const found = await firstViolation({
      ...REAL_OPERATIONS,
      finishAttempt: async (store, report, result) => {
        const ofWhoeverRuns = (job: Job, nowMs: number): Verdict =>
          finishJob(job, { token: job.current?.token ?? report.token, result }, nowMs);
        const outcome = await changeJob(store, report, ofWhoeverRuns);
        return outcome.kind === 'changed' || outcome.kind === 'unchanged' ? 'recorded' : 'superseded';
      },
    });
    expect(found?.invariant).toBe('I3');
  }, 120_000);

  test('a ticket is deleted before the record is written', async () => {
    const found = await firstViolation({
      ...REAL_OPERATIONS,
      takeTicket: async (store, ticket, taking) => {
        await store.tickets.removeFor(ticket, ticket.attempt, ticket.isLowPriority);
        return REAL_OPERATIONS.takeTicket(store, ticket, taking);
      },
    });
    expect(found?.invariant).toBe('I7');
  }, 120_000);

  test('a job is queued again without a new attempt', async () => {
    const found = await firstViolation({
      ...REAL_OPERATIONS,
      reapAttempt: async (store, key, attempt) => {
        const requeueAsBefore = (job: Job, nowMs: number): Verdict => {
          const verdict = loseAttempt(job, { attempt, reason: 'lost', isCharged: true, delayMs: 0 }, nowMs);
          return verdict.kind === 'changed' ? { ...verdict, job: { ...verdict.job, attempt } } : verdict;
        };
        return changeJob(store, key, requeueAsBefore);
      },
    });
    expect(found?.invariant).toBe('I5');
  }, 120_000);

  test('a job is taken without comparing what was read', async () => {
    const found = await firstViolation({
      ...REAL_OPERATIONS,
      takeTicket: async (store, ticket, taking) => {
        const stored = await store.records.read(ticket);
        if (stored === null) return { kind: 'stale' };
        const token = store.random.id(32);
        const verdict = takeJob(stored.job, { ...taking, attempt: ticket.attempt, token }, store.clock.nowMs());
        if (verdict.kind !== 'changed') return { kind: 'stale' };
        const latest = await store.records.read(ticket);
        await store.records.replace(verdict.job, latest?.sequence ?? 0, 60_000);
        return { kind: 'taken', job: verdict.job };
      },
    });
    expect(['I2', 'I4', 'I7']).toContain(found?.invariant);
  }, 120_000);
});
