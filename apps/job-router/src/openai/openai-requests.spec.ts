import type { EndpointSnapshot } from '@berth/contracts';
import { toRawJson, type AccountId, type EndpointId, type JobKey } from '@berth/domain';
import type { JobStore } from '@berth/jobs';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { BrokerModel, ManualClock, SeededRandom, letRun, modelStore, openGate } from '@berth/testing';
import type { FastifyReply } from 'fastify';
import { EventEmitter } from 'node:events';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { JobNotices } from '../jobs/job-notices.port.js';
import { JobReader } from '../jobs/job-reader.service.js';
import type { AnswerRelay } from './answer-relay.js';
import { openAiMetrics } from './metrics.js';
import { OpenAiRequests } from './openai-requests.service.js';
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
let store: JobStore;
let broker: BrokerModel;
let watched: JobKey;
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
  broker = new BrokerModel(() => clock.nowMs());
  store = {
    ...modelStore(broker, openGate),
    stopSignals: { send: () => undefined },
    clock,
    random: new SeededRandom(3),
  };
  const notices: JobNotices = {
    watch: (key) => {
      watched = key;
      return {
        wait: async (ms, signal) => {
          await clock.sleep(ms, signal);
          return false;
        },
        dispose: () => undefined,
      };
    },
    ring: () => undefined,
  };
  const reader = new JobReader(store, notices, { of: () => null });
  requests = new OpenAiRequests({
    store,
    reader,
    notices,
    outputs: new WorkerOutputs(store, reader),
    relay: {} as AnswerRelay,
    metrics: openAiMetrics(new MetricRegistry(), () => requests.open),
    logger: silentLogger,
    queueWaitMs: QUEUE_WAIT_MS,
  });
});

const stateOf = async (key: JobKey): Promise<string | undefined> => (await store.records.read(key))?.job.state;

describe('a request', () => {
  test('that no worker takes is refused after the limit, and its job is cancelled', async () => {
    const reply = new Reply();
    const answered = requests.answer(reply as unknown as FastifyReply, REQUEST);
    await clock.advance(QUEUE_WAIT_MS - 1_000);
    expect([await stateOf(watched), requests.open]).toEqual(['IN_QUEUE', 1]);
    await clock.advance(5_000);
    await answered;
    expect(reply.told).toMatchObject({
      status: 503,
      'retry-after': '10',
      body: { error: { code: 'no_worker_available', type: 'server_error' } },
    });
    expect([await stateOf(watched), requests.open]).toEqual(['CANCELLED', 0]);
  });

  test('whose caller goes is over at once, and so is its job', async () => {
    const reply = new Reply();
    const answered = requests.answer(reply as unknown as FastifyReply, REQUEST);
    await letRun();
    raw.emit('close');
    await answered;
    expect([await stateOf(watched), reply.told['status'], requests.open]).toEqual(['CANCELLED', undefined, 0]);
  });

  test('lets go of its body when that is stored, long before its answer', async () => {
    const reply = new Reply();
    const stored: string[] = [];
    const answered = requests.answer(reply as unknown as FastifyReply, {
      ...REQUEST,
      onStored: () => void stored.push(watched.jobId),
    });
    await letRun();
    expect([stored, await stateOf(watched), requests.open]).toEqual([[watched.jobId], 'IN_QUEUE', 1]);
    raw.emit('close');
    await answered;
  });

  test('leaves nothing behind for ever where its router dies', async () => {
    void requests.answer(new Reply() as unknown as FastifyReply, REQUEST);
    await letRun();
    const job = (await store.records.read(watched))?.job;
    expect(job).toMatchObject({ origin: 'runsync', retentionMs: 60_000, executionTimeoutMs: 30_000 });
    expect((job?.expiresAtMs ?? 0) - clock.nowMs()).toBe(QUEUE_WAIT_MS + 3 * 30_000);
  });
});
