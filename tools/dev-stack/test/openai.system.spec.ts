import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { pythonWith } from '@berth/testing/python';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { environmentWith } from './config.js';

const run = promisify(execFile);
const SCRIPT = resolve(import.meta.dirname, 'clients/openai-client.py');
const CLIENT = 'openai==3.54.0';
/** The first start of the sample worker makes a virtual environment. */
const STACK_MS = 300_000;

interface Refusal {
  readonly class: string;
  readonly status: number;
  readonly body: { readonly message: string; readonly type: string; readonly code: unknown; readonly param: unknown };
}

/** What `openai-client.py` saw. */
interface Report extends Record<`${'no_model' | 'refused' | 'broken' | 'no_key'}${string}`, Refusal> {
  readonly models: readonly string[];
  readonly chat: string;
  readonly streamed: readonly string[];
  readonly gaps: readonly number[];
  readonly objects: readonly string[];
  readonly completion: string;
  readonly embedding: readonly number[];
  readonly closed: string;
}

describe('the published OpenAI client, unmodified, on a worker of the official SDK', () => {
  let stack: StartedStack;
  let report: Report;

  beforeAll(async () => {
    stack = await StartedStack.start(['--runtime', 'process', '--demo', 'off']);
    const client = new TenantClient(() => stack.dev);
    const { body } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
      name: 'parrot',
      type: 'QUEUE',
      image: 'local/python-openai',
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      scaling: { type: 'REQUEST_COUNT', requestCount: 8 },
      workers: { min: 1, max: 1 },
    });
    const env = environmentWith({ RUN_URL: stack.dev.runUrl, API_KEY: stack.dev.apiKey });
    const { stdout } = await run(await pythonWith([CLIENT]), [SCRIPT, body.id], { env, timeout: STACK_MS });
    report = JSON.parse(stdout) as Report;
  }, 2 * STACK_MS);

  afterAll(async () => {
    await stack.stop();
    await stack.remove();
  }, STACK_MS);

  test('lists models, chats, completes and embeds', () => {
    expect(report).toMatchObject({
      models: ['parrot'],
      chat: 'one two three four five',
      completion: 'ahoy there',
      embedding: [2, 0.2, 0.02, 0.002],
    });
  });

  test('gets a stream word by word, each before the worker makes the next', () => {
    const words = ['one', ' two', ' three', ' four', ' five', ''];
    expect([report.streamed, report.objects]).toEqual([words, words]);
    // 0.4 s lie between two words at the worker: words that came together would have no time between them.
    for (const gap of report.gaps) expect(gap).toBeGreaterThan(0.2);
  });

  test('finds errors in its own classes', () => {
    const noModel = {
      class: 'NotFoundError',
      status: 404,
      body: { message: 'The model `none` does not exist.', type: 'NotFoundError', param: null, code: 404 },
    };
    expect(report).toMatchObject({
      no_model: noModel,
      no_model_streamed: noModel,
      no_model_objects: noModel,
      refused: { class: 'RateLimitError', status: 429, body: { message: 'as you wish' } },
      broken: { class: 'InternalServerError', status: 500, body: { type: 'worker_error' } },
      no_key: { class: 'AuthenticationError', status: 401, body: { code: 'invalid_api_key' } },
    });
  });

  test('cancels the job of a stream that it closes', () => {
    expect(report.closed).toBe('CANCELLED');
  });
});
