import type { EndpointSnapshot } from '@berth/contracts';
import { encodeJson, toRawJson, type AccountId, type EndpointId, type JobId } from '@berth/domain';
import { ConfigReader } from '@berth/lifecycle';
import { readSecretBox } from '@berth/secrets';
import { MetricRegistry, NO_TRACES, silentLogger } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ScriptedJobs } from '../../test/model/scripted-jobs.js';
import type { IncomingRequest } from './incoming-request.js';
import { JobIntake } from './job-intake.js';
import { HeldCalls } from './held-calls.js';
import { JobReader } from './job-reader.js';
import type { JobRequest } from '../request-bodies/index.js';
import { jobMetrics } from './metrics.js';

const WAIT_MS = 60_000;
const REQUEST: JobRequest = {
  input: toRawJson('{}'),
  extras: encodeJson({}),
  secretExtras: null,
  webhook: null,
  executionTimeoutMs: null,
  ttlMs: 3_600_000,
  isLowPriority: false,
};

let clock: ManualClock;
let jobs: ScriptedJobs;
/** Ends what the store has still to write. */
let written: () => void;
let intake: JobIntake;
let dones: number;
let incoming: IncomingRequest;

beforeEach(() => {
  clock = new ManualClock();
  jobs = new ScriptedJobs(clock);
  jobs.storing = new Promise((resolve) => (written = resolve));
  intake = new JobIntake({
    jobs,
    reader: new JobReader({
      jobs,
      held: new HeldCalls({ endpointOf: () => null }),
      reasons: { ofSight: () => null },
      traces: NO_TRACES,
      clock,
    }),
    secrets: readSecretBox(new ConfigReader({ BERTH_SECRET_KEY: Buffer.alloc(32, 1).toString('base64') })),
    bodies: { job: async () => REQUEST, batch: async () => [REQUEST] },
    metrics: jobMetrics(new MetricRegistry()),
    logger: silentLogger,
    traces: NO_TRACES,
  });
  dones = 0;
  incoming = {
    takeBody: () => ({ text: '{"input":{}}', done: () => void (dones += 1) }),
    endpoint: {
      id: 'ep' as EndpointId,
      accountId: 'a' as AccountId,
      executionTimeoutMs: 30_000,
    } as EndpointSnapshot,
    traceparent: null,
    idempotencyKey: null,
    onReplay: () => undefined,
  };
});

const write = async (): Promise<void> => {
  written();
  await letRun();
};

describe('the room of a body', () => {
  test.each<[string, () => Promise<unknown>]>([
    ['/run', () => intake.run(incoming)],
    ['/run-batch', () => intake.runBatch({ ...incoming, admit: () => undefined })],
  ])('of %s is kept while the store is slow, and given back when the job is stored', async (_, ask) => {
    const asked = ask();
    await letRun();
    expect([jobs.submissions.length, dones]).toEqual([1, 0]);
    await write();
    await asked;
    expect(dones).toBe(1);
  });

  test('of /runsync is given back when the job is stored, long before its answer', async () => {
    const told: JobId[] = [];
    const asked = intake.runSync(incoming, { ms: WAIT_MS, signal: new AbortController().signal });
    void asked.then((body) => told.push((JSON.parse(body) as { id: JobId }).id));
    await letRun();
    expect([jobs.submissions.length, dones]).toEqual([1, 0]);
    await write();
    expect([told, dones]).toEqual([[], 1]);
    await clock.advance(WAIT_MS + 5_000);
    await asked;
    expect([told.length, dones, jobs.watches]).toEqual([1, 1, 0]);
  });

  test('of a refused request is given back too', async () => {
    const refusing = {
      ...incoming,
      admit: () => {
        throw new Error('too many');
      },
    };
    await expect(intake.runBatch(refusing)).rejects.toThrow('too many');
    expect(dones).toBe(1);
  });
});
