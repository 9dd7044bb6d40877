import { BodyBudget, type StreamedAnswer, type StreamedAnswers } from '@berth/http';
import { NO_TRACES } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import type { FastifyReply } from 'fastify';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { KEY, ScriptedJobs } from '../../test/model/scripted-jobs.js';
import { JobStream } from '../job-stream/index.js';
import { HeldCalls, JobReader } from '../jobs/index.js';
import { AnswerRelay } from './answer-relay.js';
import type { OpenAiExchange } from './exchange.js';
import { WorkerOutputs } from './worker-outputs.js';

const PING = ': ping\n\n';
const QUEUE_WAIT_MS = 60_000;

let clock: ManualClock;
let jobs: ScriptedJobs;
let exchange: OpenAiExchange;
/** What has been sent; the first item says that the headers have. */
let sent: string[];
let relay: AnswerRelay;
/** What lies here for readers, of which this reader's account is one. */
let budget: BodyBudget;

beforeEach(() => {
  clock = new ManualClock();
  jobs = new ScriptedJobs(clock);
  jobs.show({});
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
  const reader = new JobReader({
    jobs,
    held: new HeldCalls({ endpointOf: () => null }),
    reasons: { ofSight: () => null },
    traces: NO_TRACES,
    clock,
  });
  const outputs = new WorkerOutputs(jobs, reader);
  const stream = new JobStream({ jobs, reader, clock });
  relay = new AnswerRelay({ stream, outputs, answers, clock, queueWaitMs: QUEUE_WAIT_MS });
  exchange = { key: KEY, watch: jobs.watch(), gone: new AbortController().signal, isOver: false };
});

const take = (): void => {
  jobs.show({ state: 'IN_PROGRESS' });
};
const finish = (chunks: number): void => {
  jobs.show({ state: 'COMPLETED', endedAtMs: clock.nowMs(), chunks });
};

describe('an answer that takes its time', () => {
  test('sends its headers with the first comment, and comments between events only', async () => {
    const done = relay.relay({} as FastifyReply, exchange);
    await clock.advance(4_900);
    expect(sent).toEqual([]);
    await clock.advance(1_200);
    expect(sent).toEqual(['headers', PING]);
    take();
    jobs.stream({ output: 'data: {"n"' });
    await clock.advance(20_000);
    expect(sent.slice(2)).toEqual(['data: {"n"']);
    jobs.stream({ output: ':1}\n\n' });
    await clock.advance(7_000);
    expect(sent.slice(3)).toEqual([':1}\n\n', PING]);
    finish(2);
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
    take();
    const done = relay.relay({} as FastifyReply, exchange);
    await clock.advance(3_600_001);
    await done;
    expect(sent.at(-2)).toContain('"job_cancelled"');
  });
});

describe('a value in pieces', () => {
  const piece = (index: number, output: string): void => {
    jobs.stream({ output, part: { index, count: 3 } });
  };

  test('takes room of its reader’s account until it is whole', async () => {
    take();
    const done = relay.relay({} as FastifyReply, exchange);
    piece(0, '{"a":');
    piece(1, '1');
    await clock.advance(1_000);
    expect(budget.takenBytes).toBe('"{\\"a\\":""1"'.length);
    piece(2, '}');
    await clock.advance(1_000);
    expect([sent.at(-1), budget.takenBytes]).toEqual(['data: {"a":1}\n\n', 0]);
    finish(3);
    await clock.advance(1_000);
    await done;
  });

  test('for which others leave no room is refused, and gives back what it had', async () => {
    const other = budget.take(980, 'other');
    take();
    const done = expect(relay.relay({} as FastifyReply, exchange)).rejects.toThrow(/under way/);
    piece(0, 'x'.repeat(10));
    await clock.advance(1_000);
    expect(budget.takenBytes).toBe(992);
    piece(1, 'x'.repeat(10));
    await clock.advance(1_000);
    await done;
    expect(budget.takenBytes).toBe(980);
    other();
  });
});
