import { describe, expect, test } from '@jest/globals';
import {
  checkHistory,
  type ClientEntry,
  type Execution,
  type History,
  type StatusRead,
} from '../src/checker/check-history.js';
import { checkCharges, type ChargedJob } from '../src/checker/check-charges.js';
import { excuseReruns } from '../src/checker/excuse-reruns.js';

const read = (status: string | null, more: Partial<StatusRead> = {}): StatusRead => ({
  atMs: 0,
  status,
  output: status === 'COMPLETED' ? { echo: 'x', execution: 'e1' } : null,
  retries: 0,
  ...more,
});
const entry = (...reads: StatusRead[]): ClientEntry => ({ jobId: 'j', input: 'x', reads });
const execution = (more: Partial<Execution> = {}): Execution => ({
  jobId: 'j',
  execution: 'e1',
  startedAtMs: 1_000,
  givenAtMs: 2_000,
  ...more,
});
const history = (accepted: ClientEntry, ...executions: Execution[]): History => ({ accepted: [accepted], executions });

const GOOD = history(entry(read('IN_QUEUE'), read('IN_PROGRESS'), read('COMPLETED'), read('COMPLETED')), execution());

describe('the checker of the crash suite', () => {
  test('finds nothing in a history that keeps every promise', () => {
    expect(checkHistory(GOOD)).toEqual([]);
  });

  test.each<[string, History, string]>([
    ['a lost job', history(entry(read('IN_QUEUE'), read(null))), 'lost'],
    ['an accepted job nobody ever read', history(entry()), 'lost'],
    ['a job that never ends', history(entry(read('IN_PROGRESS')), execution({ givenAtMs: null })), 'not-ended'],
    ['a double end', history(entry(read('FAILED'), read('COMPLETED')), execution()), 'double-end'],
    [
      'an end that reopens',
      history(entry(read('COMPLETED'), read('IN_QUEUE'), read('COMPLETED')), execution()),
      'double-end',
    ],
    [
      'a wrong output',
      history(entry(read('COMPLETED', { output: { echo: 'y', execution: 'e1' } })), execution()),
      'wrong-output',
    ],
    ['a missing output', history(entry(read('COMPLETED', { output: null })), execution()), 'wrong-output'],
    ["another job's output", history(entry(read('COMPLETED')), execution({ execution: 'e9' })), 'foreign-output'],
    [
      'an output that changes after the end',
      history(
        entry(read('COMPLETED'), read('COMPLETED', { output: { echo: 'x', execution: 'e2' } })),
        execution(),
        execution({ execution: 'e2', givenAtMs: null, startedAtMs: 0 }),
      ),
      'changed-output',
    ],
    ['a fourth attempt', history(entry(read('COMPLETED', { retries: 3 })), execution()), 'too-many-attempts'],
    [
      'a job that runs again after its result was given',
      history(
        entry(read('COMPLETED')),
        execution(),
        execution({ execution: 'e2', startedAtMs: 3_000, givenAtMs: null }),
      ),
      'ran-again-after-its-result',
    ],
  ])('flags %s', (_, doctored, promise) => {
    expect(checkHistory(doctored).map((broken) => broken.promise)).toContain(promise);
  });
});

describe('a host that stood still', () => {
  const broken = [{ promise: 'ran-again-after-its-result', jobId: 'j', detail: '' }] as const;
  const standstills = [{ fromMs: 1_000, untilMs: 41_000 }];

  test.each([
    ['an attempt that was given away meanwhile', 31_000, []],
    ['one that was given away before', 900, broken],
    ['one that was given away long after', 60_000, broken],
  ])('excuses that a job ran again after %s, and nothing else', (_, lostAtMs, left) => {
    expect(excuseReruns(broken, new Map([['j', [lostAtMs]]]), standstills)).toEqual(left);
  });

  test('excuses no other broken promise', () => {
    const lost = [{ promise: 'lost', jobId: 'j', detail: '' }] as const;
    expect(excuseReruns(lost, new Map([['j', [31_000]]]), standstills)).toEqual(lost);
  });
});

describe('what a job is charged', () => {
  const lost = { workerId: 'w', outcome: 'lost', startedAtMs: 1_000, endedAtMs: 9_000 };
  const done = { workerId: 'w', outcome: 'COMPLETED', startedAtMs: 9_100, endedAtMs: 9_500 };
  const job = (charged: number, ...attempts: ChargedJob['attempts']): ChargedJob => ({ jobId: 'j', charged, attempts });
  const fault = (fromMs: number, workerId: string | null): Parameters<typeof checkCharges>[1][number] => ({
    ...{ workerId, fromMs },
    untilMs: fromMs + 100,
  });

  test.each([
    ['nothing', job(0, lost, done), []],
    ['a worker that died under it', job(1, lost, done), [fault(5_000, 'w')]],
    ['a host that stood still', job(1, lost, done), [fault(5_000, null)]],
    ['each of two', job(2, lost, { ...lost, workerId: 'v' }, done), [fault(5_000, null)]],
  ])('may be %s', (_, charged, faults) => {
    expect(checkCharges(charged, faults)).toEqual([]);
  });

  test.each([
    ['a fault of nobody on its host', job(1, lost, done), []],
    ["another worker's death", job(1, lost, done), [fault(5_000, 'v')]],
    ['a death before it began', job(1, lost, done), [fault(800, 'w')]],
    ['a death after it was lost', job(1, lost, done), [fault(9_050, 'w')]],
    ['more than it lost', job(2, lost, done), [fault(5_000, null)]],
    ['an attempt that was not lost', job(1, done), [fault(9_200, 'w')]],
  ])('may not be %s', (_, charged, faults) => {
    expect(checkCharges(charged, faults)).toMatchObject([{ promise: 'charged-for-a-fault-of-ours', jobId: 'j' }]);
  });
});
