import { describe, expect, test } from '@jest/globals';
import { finishJob, loseAttempt, purgeJob, retryJob, settleStop, takeJob, type Job, type Verdict } from '@berth/domain';
import { changeJob, putTicket, type JobStore } from '@berth/jobs';
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

  test('a job is purged without comparing what was read', async () => {
    const purgeSeen = async (store: JobStore, ticket: Parameters<Operations['takeTicket']>[1]): Promise<number> => {
      const stored = await store.records.read(ticket);
      if (stored === null) return 0;
      const verdict = purgeJob(stored.job, ticket.attempt, store.clock.nowMs());
      if (verdict.kind !== 'changed') return 0;
      const latest = await store.records.read(ticket);
      const outcome = await store.records.replace(verdict.job, latest?.sequence ?? 0, 60_000);
      return outcome.kind === 'written' ? 1 : 0;
    };
    const found = await firstViolation({
      ...REAL_OPERATIONS,
      purgeQueue: async (store, endpointId) => {
        let removed = 0;
        const query = { endpointId, isLowPriority: false, afterSequence: 0, limit: 100 };
        for (const { ticket } of await store.tickets.list(query)) removed += await purgeSeen(store, ticket);
        return removed;
      },
    });
    expect(found?.invariant).toBe('I7');
  }, 120_000);

  test('a purge counts the jobs that it finds instead of those that it removes', async () => {
    const found = await firstViolation({
      ...REAL_OPERATIONS,
      purgeQueue: async (store, endpointId) => {
        const query = { endpointId, isLowPriority: false, afterSequence: 0, limit: 100 };
        const { length } = await store.tickets.list(query);
        await REAL_OPERATIONS.purgeQueue(store, endpointId);
        return length;
      },
    });
    expect(found?.invariant).toBe('I7');
  }, 120_000);

  test.each<[string, (before: Job, retried: Job) => Job, string]>([
    ['as the same attempt', ({ attempt }, retried) => ({ ...retried, attempt }), 'I5'],
    ['under the token of the attempt before', ({ current }, retried) => ({ ...retried, current }), 'I3'],
    ['with what the attempt before it gave', ({ output }, retried) => ({ ...retried, output }), 'I3'],
  ])(
    'a job is retried %s',
    async (_, doctor, invariant) => {
      const found = await firstViolation({
        ...REAL_OPERATIONS,
        retry: async (store, key) => {
          const outcome = await changeJob(store, key, (job, nowMs) => {
            const verdict = retryJob(job, nowMs);
            return verdict.kind === 'changed' ? { ...verdict, job: doctor(job, verdict.job) } : verdict;
          });
          if (outcome.kind === 'changed') await putTicket(store, outcome.job);
          return outcome;
        },
      });
      expect(found?.invariant).toBe(invariant);
    },
    120_000,
  );

  test('a job that ran out of time is retried while its worker still holds it', async () => {
    const found = await firstViolation({
      ...REAL_OPERATIONS,
      retry: async (store, key) => {
        const outcome = await changeJob(store, key, (job, nowMs) => {
          const verdict = retryJob(job, nowMs);
          return verdict.kind === 'changed' ? { ...verdict, job: { ...verdict.job, notBeforeMs: nowMs } } : verdict;
        });
        if (outcome.kind === 'changed') await putTicket(store, outcome.job);
        return outcome;
      },
    });
    expect(found?.invariant).toBe('I4');
  }, 120_000);

  test('a worker that lets go of a cancelled job completes it', async () => {
    const found = await firstViolation({
      ...REAL_OPERATIONS,
      settleStopped: async (store, report, stoppedAtMs) => {
        const outcome = await changeJob(store, report, (job, nowMs) => {
          const verdict = settleStop(job, { ...report, stoppedAtMs }, nowMs);
          return verdict.kind === 'changed' && job.state === 'CANCELLED'
            ? { ...verdict, job: { ...verdict.job, state: 'COMPLETED' } }
            : verdict;
        });
        return outcome.kind === 'changed' ? 'recorded' : 'superseded';
      },
    });
    expect(['I2', 'I6']).toContain(found?.invariant);
  }, 120_000);

  test.each<[string, Operations['settleStopped']]>([
    [
      'with the instant of the telling',
      (store, report) => REAL_OPERATIONS.settleStopped(store, report, store.clock.nowMs()),
    ],
    ['not at all', () => Promise.resolve('superseded')],
  ])(
    'that a worker let go is noted %s',
    async (_, settleStopped) => {
      const found = await firstViolation({ ...REAL_OPERATIONS, settleStopped });
      expect(found?.invariant).toBe('I14');
    },
    120_000,
  );

  test('a replaced life is written without what the broker keeps it by', async () => {
    const found = await firstViolation({
      ...REAL_OPERATIONS,
      replaceJobLife: async (store, key, leftMs) => {
        const replace = (job: Job, expected: number): ReturnType<JobStore['records']['replace']> =>
          store.records.replace(job, expected, 1_000);
        return REAL_OPERATIONS.replaceJobLife({ ...store, records: { ...store.records, replace } }, key, leftMs);
      },
    });
    expect(found?.invariant).toBe('I8');
  }, 120_000);
});
