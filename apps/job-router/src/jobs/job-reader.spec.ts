import { encodeJson } from '@berth/domain';
import { NO_TRACES } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { KEY, ScriptedJobs, jobSight } from '../../test/model/scripted-jobs.js';
import type { Wait } from './wait.js';
import { HeldCalls } from './held-calls.js';
import { JobReader } from './job-reader.js';

const WAIT_MS = 60_000;

let clock: ManualClock;
let jobs: ScriptedJobs;
let held: HeldCalls;
let reader: JobReader;
let gone: AbortController;

beforeEach(() => {
  clock = new ManualClock();
  jobs = new ScriptedJobs(clock);
  jobs.show({});
  held = new HeldCalls({ endpointOf: () => null });
  reader = new JobReader({ jobs, held, reasons: { ofSight: () => null }, traces: NO_TRACES, clock });
  gone = new AbortController();
});

/** What a held caller was told, once it was. */
const hold = (): { readonly told: string[]; readonly done: Promise<void> } => {
  const told: string[] = [];
  const wait: Wait = { ms: WAIT_MS, signal: gone.signal };
  const watch = reader.watch(KEY, 'end');
  const done = reader.awaitEnd(KEY, watch, wait).then(({ state }) => {
    told.push(state);
    watch.dispose();
  });
  return { told, done };
};

describe('a caller who waits for an end', () => {
  test('is told of it at its notice, or at the next look', async () => {
    const noticed = hold();
    await letRun();
    jobs.show({ state: 'COMPLETED' });
    jobs.ring();
    await noticed.done;
    jobs.show({ state: 'IN_PROGRESS' });
    const looked = hold();
    await letRun();
    jobs.show({ state: 'FAILED' });
    await clock.advance(2_000);
    expect([noticed.told, looked.told, held.size, jobs.watches]).toEqual([['COMPLETED'], ['FAILED'], 0, 0]);
  });

  test.each<[string, () => unknown]>([
    ['the wait is over', () => clock.advance(WAIT_MS)],
    ['the caller goes', () => gone.abort()],
    [
      'the router stops',
      () => {
        reader.release();
      },
    ],
  ])('is held no longer when %s', async (_, end) => {
    const caller = hold();
    await clock.advance(WAIT_MS - 1_000);
    expect([caller.told, held.size]).toEqual([[], 1]);
    await end();
    await caller.done;
    expect([caller.told, held.size]).toEqual([['IN_QUEUE'], 0]);
  });

  test('hears at once that the life of the job is over', async () => {
    jobs.show({ expiresAtMs: clock.nowMs() + 500 });
    const caller = expect(hold().done).rejects.toMatchObject({ code: 'job-not-found' });
    await clock.advance(500);
    await caller;
  });
});

describe('the output of a job', () => {
  test('is its text, or none', async () => {
    const output = { kind: 'inline', json: encodeJson({ a: 1 }) } as const;
    expect(await reader.outputOf(jobSight({ output }))).toBe('{"a":1}');
    expect(await reader.outputOf(jobSight())).toBeNull();
  });

  test('that has gone with its job is no job', async () => {
    const manifest = { name: 'out', parts: 1, sizeBytes: 9, sha256: '' };
    const job = jobSight({ output: { kind: 'blob', manifest } });
    await expect(reader.statusBody(job)).rejects.toMatchObject({ code: 'job-not-found' });
  });
});
