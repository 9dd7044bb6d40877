import { toRawJson, type RawJson } from '@berth/domain';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import {
  type OpenAiFailure,
  failureInOutput,
  failureOf,
  noOutput,
  noWorker,
  toFailure,
  workerLost,
} from './openai-failure.js';
import { jobNotFound } from '../platform/index.js';

const shown = (failure: OpenAiFailure | null): unknown =>
  failure === null ? null : { status: failure.status, ...JSON.parse(failure.body) };
const error = (message: string, type: string, code: string | number | null) => ({
  error: { message, type, code, param: null },
});

describe('what an ended job says', () => {
  test('is nothing while it runs and when it is done', () => {
    expect([failureOf('IN_QUEUE', null), failureOf('IN_PROGRESS', null), failureOf('COMPLETED', null)]).toEqual([
      null,
      null,
      null,
    ]);
  });

  test.each([
    ['a worker that fails', 'boom', { status: 500, ...error('boom', 'worker_error', null) }],
    [
      'an exception as the SDK reports it, without its traceback',
      '{"error_type":"<class \'ValueError\'>","error_message":"no such voice","error_traceback":"File …"}',
      { status: 500, ...error('no such voice', 'worker_error', null) },
    ],
    [
      'the same of a generator',
      'handler: list index out of range \ntraceback: Traceback (most recent call last):\n  File …',
      { status: 500, ...error('list index out of range', 'worker_error', null) },
    ],
    [
      "the vLLM server's own error, out of the text that the SDK made of it",
      `{'message': 'vLLM returned HTTP 404: {"error":{"message":"The model {x} does not exist.","type":"NotFoundError","param":"model","code":404}}', 'type': 'worker_error', 'code': None}`,
      {
        status: 404,
        error: { message: 'The model {x} does not exist.', type: 'NotFoundError', code: 404, param: 'model' },
      },
    ],
    [
      'a status without anything to read',
      'vLLM returned HTTP 429: slow {down',
      { status: 429, ...error('vLLM returned HTTP 429: slow {down', 'worker_error', 429) },
    ],
    ['a number that is no failure', 'vLLM returned HTTP 200: x', { status: 500 }],
  ])('%s', (_, text, expected) => {
    expect(shown(failureOf('FAILED', text))).toMatchObject(expected);
  });

  test('of its time and of its callers', () => {
    expect(shown(failureOf('TIMED_OUT', 'executionTimeout exceeded'))).toEqual({
      status: 504,
      ...error('executionTimeout exceeded', 'server_error', 'execution_timeout'),
    });
    expect(failureOf('CANCELLED', null)?.status).toBe(410);
    expect(toFailure(jobNotFound())?.status).toBe(410);
    expect(toFailure(new Error('a fault'))).toBeNull();
  });
});

describe('an output that is an error', () => {
  test.each([
    [
      '{"object":"error","message":"no model","type":"NotFoundError","param":null,"code":404}',
      { status: 404, ...error('no model', 'NotFoundError', 404) },
    ],
    ['{"object":"error"}', { status: 500, ...error('The worker failed.', 'worker_error', null) }],
    [
      '{"error":{"message":"quota","code":"insufficient_quota"}}',
      { status: 500, ...error('quota', 'worker_error', 'insufficient_quota') },
    ],
    ['{"error":{"message":"later","code":429,"type":"x"}}', { status: 429, ...error('later', 'x', 429) }],
    ['{"object":"chat.completion","error":null}', null],
    ['{"object":"list","data":[]}', null],
    ['"text"', null],
  ])('%s', (output, expected) => {
    expect(shown(failureInOutput(toRawJson(output)))).toEqual(expected);
  });
});

describe('an output of 20 MiB that claims to be an error', () => {
  const AT_ONCE_MAX_CHARACTERS = 64 * 1024;
  const swarm = `[${'{},'.repeat(7_000_000)}{}]`;
  const abyss = '['.repeat(10_000_000) + ']'.repeat(10_000_000);

  afterEach(() => {
    jest.restoreAllMocks();
  });

  test.each([
    ['of millions of objects', `{"object":"error","message":"m","junk":${swarm}}`],
    ['of millions of objects within it', `{"error":{"message":"m","junk":${swarm}}}`],
    ['of millions of levels', `{"object":"error","message":"m","junk":${abyss}}`],
    ['of millions of members', `{${'"a":1,'.repeat(3_500_000)}"object":"error"}`],
  ])('%s is never parsed on the thread that serves everybody: it is an answer', (_, output) => {
    const parse = jest.spyOn(JSON, 'parse');
    expect(failureInOutput(output as RawJson)).toBeNull();
    expect(parse.mock.calls.filter(([text]) => text.length > AT_ONCE_MAX_CHARACTERS)).toEqual([]);
  });

  test('is an error up to 64 KiB, with a prompt in its message', () => {
    const message = 'p'.repeat(65_000);
    expect(failureInOutput(toRawJson(JSON.stringify({ error: { message, code: 400 } })))?.status).toBe(400);
  });
});

test('what a worker did is no fault of ours, and that there is none is', () => {
  const ofWorkers = [failureOf('FAILED', 'boom'), failureOf('TIMED_OUT', null), noOutput()];
  expect(ofWorkers.map((failure) => failure?.isOurs)).toEqual([false, false, false]);
  expect([noWorker().isOurs, workerLost().isOurs]).toEqual([true, true]);
});
