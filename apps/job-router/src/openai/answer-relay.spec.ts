import {
  encodeJson,
  toRawJson,
  type AccountId,
  type EndpointId,
  type HostId,
  type JobId,
  type WorkerId,
} from '@berth/domain';
import { BodyBudget } from '@berth/http';
import { finishAttempt, submitJob, takeTicket, ticketOf, type JobStore } from '@berth/jobs';
import { BrokerModel, ManualClock, SeededRandom, modelStore, openGate } from '@berth/testing';
import type { FastifyReply } from 'fastify';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { JobStream } from '../job-stream/job-stream.service.js';
import type { StreamedAnswer, StreamedAnswers } from '../job-stream/streamed-answers.service.js';
import { JobReader } from '../jobs/job-reader.service.js';
import { AnswerRelay } from './answer-relay.js';
import type { Exchange } from './exchange.js';
import { WorkerOutputs } from './worker-outputs.js';

const KEY = { endpointId: 'ep' as EndpointId, jobId: 'job' as JobId };
const PING = ': ping\n\n';
const QUEUE_WAIT_MS = 60_000;

let clock: ManualClock;
let store: JobStore;
let exchange: Exchange;
/** What has been sent; the first item says that the headers have. */
let sent: string[];
let relay: AnswerRelay;
/** What lies here for readers, of which this reader's account is one. */
let budget: BodyBudget;

beforeEach(async () => {
  clock = new ManualClock();
  const broker = new BrokerModel(() => clock.nowMs());
  store = {
    ...modelStore(broker, openGate),
    stopSignals: { send: () => undefined },
    clock,
    random: new SeededRandom(3),
  };
  sent = [];
  const answer = {
    write: (text: string) => Promise.resolve(sent.push(text) > 0),
    end: () => void sent.push('end'),
  };
  budget = new BodyBudget(1_000);
  const answers = {
    hold: () => budget.hold('account'),
    begin: () => {
      sent.push('headers');
      return answer as unknown as StreamedAnswer;
    },
  } as unknown as StreamedAnswers;
  const watch = {
    wait: async (ms: number, signal?: AbortSignal) => {
      await clock.sleep(ms, signal);
      return false;
    },
    dispose: () => undefined,
  };
  const reader = new JobReader(store, { watch: () => watch, ring: () => undefined }, { of: () => null });
  const outputs = new WorkerOutputs(store, reader);
  relay = new AnswerRelay({
    stream: new JobStream(store, reader),
    outputs,
    answers,
    clock,
    queueWaitMs: QUEUE_WAIT_MS,
  });
  exchange = { key: KEY, watch, gone: new AbortController().signal, isOver: false };
  await submitJob(store, KEY.jobId, {
    endpointId: KEY.endpointId,
    accountId: 'account' as AccountId,
    origin: 'runsync',
    input: encodeJson({}),
    extras: encodeJson({}),
    sealedExtras: null,
    webhook: null,
    executionTimeoutMs: 300_000,
    ttlMs: 3_600_000,
    retentionMs: 60_000,
    isLowPriority: false,
    reservation: null,
    traceparent: null,
  });
});

const take = async (): Promise<string> => {
  const stored = await store.records.read(KEY);
  if (stored === null) throw new Error('no job');
  const outcome = await takeTicket(store, ticketOf(stored.job), { hostId: 'h' as HostId, workerId: 'w' as WorkerId });
  return outcome.kind === 'taken' ? (outcome.job.current?.token ?? '') : '';
};
const append = (index: number, output: string): Promise<void> =>
  store.chunks.append(KEY, { attempt: 1, index, body: toRawJson(JSON.stringify({ output })) }, 60_000);

describe('an answer that takes its time', () => {
  test('sends its headers with the first comment, and comments between events only', async () => {
    const done = relay.relay({} as FastifyReply, exchange);
    await clock.advance(4_900);
    expect(sent).toEqual([]);
    await clock.advance(1_200);
    expect(sent).toEqual(['headers', PING]);
    const token = await take();
    await append(0, 'data: {"n"');
    await clock.advance(20_000);
    expect(sent.slice(2)).toEqual(['data: {"n"']);
    await append(1, ':1}\n\n');
    await clock.advance(7_000);
    expect(sent.slice(3)).toEqual([':1}\n\n', PING]);
    await finishAttempt(store, { ...KEY, token }, { kind: 'completed', output: null, chunks: 2 });
    await clock.advance(1_000);
    await done;
    expect(sent.at(-1)).toBe('end');
    expect(exchange.isOver).toBe(true);
  });

  test('that no worker takes is an error event after the limit', async () => {
    const done = relay.relay({} as FastifyReply, exchange);
    await clock.advance(QUEUE_WAIT_MS + 6_000);
    await done;
    expect(sent.at(-2)).toContain('"no_worker_available"');
    expect([sent.at(-1), exchange.isOver]).toEqual(['end', false]);
  });

  test('of a job that goes meanwhile ends with an error', async () => {
    await take();
    const done = relay.relay({} as FastifyReply, exchange);
    await clock.advance(3_600_001);
    await done;
    expect(sent.at(-2)).toContain('"job_cancelled"');
  });
});

describe('a value in pieces', () => {
  const appendPiece = (index: number, output: string, count: number): Promise<void> => {
    const body = encodeJson({ output, part: { index, count } });
    return store.chunks.append(KEY, { attempt: 1, index, body }, 60_000);
  };

  test('takes room of its reader’s account until it is whole', async () => {
    const token = await take();
    const done = relay.relay({} as FastifyReply, exchange);
    await appendPiece(0, '{"a":', 3);
    await appendPiece(1, '1', 3);
    await clock.advance(1_000);
    expect(budget.takenBytes).toBe('"{\\"a\\":""1"'.length);
    await appendPiece(2, '}', 3);
    await clock.advance(1_000);
    expect([sent.at(-1), budget.takenBytes]).toEqual(['data: {"a":1}\n\n', 0]);
    await finishAttempt(store, { ...KEY, token }, { kind: 'completed', output: null, chunks: 3 });
    await clock.advance(1_000);
    await done;
  });

  test('for which others leave no room is refused, and gives back what it had', async () => {
    const other = budget.take(980, 'other');
    await take();
    const done = expect(relay.relay({} as FastifyReply, exchange)).rejects.toThrow(/under way/);
    await appendPiece(0, 'x'.repeat(10), 3);
    await clock.advance(1_000);
    expect(budget.takenBytes).toBe(992);
    await appendPiece(1, 'x'.repeat(10), 3);
    await clock.advance(1_000);
    await done;
    expect(budget.takenBytes).toBe(980);
    other();
  });
});
