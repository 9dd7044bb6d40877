import type { EndpointSnapshot } from '@berth/contracts';
import { toRawJson, type AccountId, type EndpointId, type JobId, type JobState } from '@berth/domain';
import { MetricRegistry, NO_TRACES, silentLogger } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import type { FastifyReply } from 'fastify';
import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ScriptedJobs } from '../../test/model/scripted-jobs.js';
import { HeldCalls, JobReader } from '../jobs/index.js';
import type { AnswerRelay } from './answer-relay.js';
import { openAiMetrics } from './metrics.js';
import { OpenAiRequests } from './openai-requests.js';
import { WorkerOutputs } from './worker-outputs.js';

const QUEUE_WAIT_MS = 60_000;
const ENDPOINT = {
  id: 'ep' as EndpointId,
  accountId: 'a' as AccountId,
  executionTimeoutMs: 30_000,
} as EndpointSnapshot;
const REQUEST = {
  endpoint: ENDPOINT,
  takeInput: () => toRawJson('{}'),
  onStored: () => undefined,
  isStreamed: false,
  traceparent: null,
};

let clock: ManualClock;
let jobs: ScriptedJobs;
let requests: OpenAiRequests;
let raw: EventEmitter;

/** What a reply was told, in the order of telling. */
class Reply {
  readonly told: Record<string, unknown> = {};
  readonly raw = raw;

  status(code: number): this {
    this.told['status'] = code;
    return this;
  }

  header(name: string, value: string): this {
    this.told[name] = value;
    return this;
  }

  send(body: string): this {
    this.told['body'] = JSON.parse(body);
    return this;
  }
}

beforeEach(() => {
  clock = new ManualClock();
  raw = new EventEmitter();
  jobs = new ScriptedJobs(clock);
  const held = new HeldCalls({ endpointOf: () => null });
  const reader = new JobReader({ jobs, held, reasons: { ofSight: () => null }, traces: NO_TRACES, clock });
  requests = new OpenAiRequests({
    jobs,
    held,
    reader,
    outputs: new WorkerOutputs(jobs, reader),
    relay: {} as AnswerRelay,
    metrics: openAiMetrics(new MetricRegistry(), () => requests.open),
    clock,
    logger: silentLogger,
    queueWaitMs: QUEUE_WAIT_MS,
  });
});

const JOB_ID = 'job-0' as JobId;
const state = (): JobState | undefined => jobs.stateOf(JOB_ID);

describe('a request', () => {
  test('that no worker takes is refused after the limit, and its job is cancelled', async () => {
    const reply = new Reply();
    const answered = requests.answer(reply as unknown as FastifyReply, REQUEST);
    await clock.advance(QUEUE_WAIT_MS - 1_000);
    expect([state(), requests.open]).toEqual(['IN_QUEUE', 1]);
    await clock.advance(5_000);
    await answered;
    expect(reply.told).toMatchObject({
      status: 503,
      'retry-after': '10',
      body: { error: { code: 'no_worker_available', type: 'server_error' } },
    });
    expect([state(), requests.open, jobs.watches]).toEqual(['CANCELLED', 0, 0]);
  });

  test('whose caller goes is over at once, and so is its job', async () => {
    const reply = new Reply();
    const answered = requests.answer(reply as unknown as FastifyReply, REQUEST);
    await letRun();
    raw.emit('close');
    await answered;
    expect([state(), reply.told['status'], requests.open]).toEqual(['CANCELLED', undefined, 0]);
  });

  test('lets go of its body when that is stored, long before its answer', async () => {
    const reply = new Reply();
    const stored: string[] = [];
    const answered = requests.answer(reply as unknown as FastifyReply, {
      ...REQUEST,
      onStored: () => void stored.push('stored'),
    });
    await letRun();
    expect([stored, state(), requests.open]).toEqual([['stored'], 'IN_QUEUE', 1]);
    raw.emit('close');
    await answered;
  });

  test('leaves nothing behind for ever where its router dies', async () => {
    void requests.answer(new Reply() as unknown as FastifyReply, REQUEST);
    await letRun();
    expect(jobs.submissions).toMatchObject([
      { retentionMs: 60_000, executionTimeoutMs: 30_000, ttlMs: QUEUE_WAIT_MS + 3 * 30_000 },
    ]);
  });
});
