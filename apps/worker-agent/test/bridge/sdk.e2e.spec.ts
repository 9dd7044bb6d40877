import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { encodeJson, type RawJson } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { PYTHON_SETUP_MS } from '@berth/testing/python';
import type { Ended } from './fake-router.js';
import { prepareSdks } from './sdk-python.js';
import { SdkWorker, type SdkWorkerOptions } from './sdk-worker.js';
import { TestAgent } from './test-agent.js';

const CURRENT = '1.12.0';
const OLDER = ['1.6.2', '1.7.6', '1.9.1', '1.10.1'];
const WAIT = { deadlineMs: 90_000, intervalMs: 50 };

let agent: TestAgent;
const workers = new Map<string, SdkWorker>();

const start = async (id: string, options: SdkWorkerOptions): Promise<void> => {
  workers.set(id, await SdkWorker.start(agent, id, options));
};
const worker = (id: string): SdkWorker => {
  const found = workers.get(id);
  if (found === undefined) throw new Error(`no worker ${id}`);
  return found;
};
const submit = (id: string, input: unknown, more: object = {}): string =>
  agent.router.submit({ input: encodeJson(input), endpointId: `ep${id}`, ...more });

const endOf = (jobId: string): Promise<Ended> =>
  eventually(() => {
    const ended = agent.router.ended.get(jobId);
    if (ended === undefined) throw new Error(`${jobId} is ${agent.router.stateOf(jobId)}`);
    return ended;
  }, WAIT);

beforeAll(async () => {
  await prepareSdks([CURRENT, ...OLDER]);
  agent = await TestAgent.start(systemClock);
  await start('wide', { version: CURRENT, handler: 'many', env: { CONCURRENCY: '12' } });
  await start('stream', { version: CURRENT, handler: 'stream' });
  await start('whole', { version: CURRENT, handler: 'stream', env: { AGGREGATE: '1' } });
  await start('single', { version: CURRENT, handler: 'many' });
  for (const version of OLDER) await start(`v${version.replaceAll('.', '')}`, { version, handler: 'many' });
}, PYTHON_SETUP_MS);

afterAll(async () => {
  await Promise.all([...workers.values()].map((each) => each.kill()));
  await agent.close();
});

describe(`a worker with SDK ${CURRENT}`, () => {
  test('has each kind of result reported exactly as its handler meant it', async () => {
    const jobs = {
      echo: submit('wide', { do: 'echo', text: 'ü' }),
      empty: submit('wide', { do: 'empty' }),
      none: submit('wide', { do: 'none' }),
      error: submit('wide', { do: 'error' }),
      errorObject: submit('wide', { do: 'error-object' }),
      raise: submit('wide', { do: 'raise' }),
      nan: submit('wide', { do: 'nan' }),
      progress: submit('wide', { do: 'progress' }),
      large: submit('wide', { do: 'large', characters: 10_400_000 }),
      tooLarge: submit('wide', { do: 'large', characters: 10_600_000 }),
    };
    expect(await endOf(jobs.echo)).toMatchObject({
      result: { kind: 'completed' },
      outputText: '{"do": "echo", "text": "ü"}',
      chunks: 0,
    });
    expect((await endOf(jobs.empty)).result).toEqual({ kind: 'completed', output: null });
    expect((await endOf(jobs.none)).outputText).toBe('null');
    expect(await endOf(jobs.error)).toMatchObject({
      result: { kind: 'failed', error: "a handler's own error" },
      output: { detail: 7 },
    });
    expect((await endOf(jobs.errorObject)).result).toMatchObject({ kind: 'failed', error: '{"code": 42}' });
    const raised = (await endOf(jobs.raise)).result;
    expect(raised).toMatchObject({ kind: 'failed', output: null });
    expect(JSON.parse((raised as { error: string }).error)).toMatchObject({
      error_message: 'raised on purpose',
      worker_id: 'wide',
      runpod_version: CURRENT,
    });
    expect((await endOf(jobs.nan)).outputText).toBe('{"value": null, "text": "NaN stays in a string"}');
    expect((await endOf(jobs.progress)).output).toBe('after progress');
    expect(agent.router.progress.get(jobs.progress)).toContainEqual({ step: 1 });
    expect((await endOf(jobs.large)).output).toBe('é'.repeat(10_400_000));
    expect((await endOf(jobs.tooLarge)).result).toEqual({
      kind: 'failed',
      error: 'the output is too large: 21200002 bytes, at most 20971520 are allowed',
      output: null,
    });
    expect(agent.router.losses).toEqual([]);
  });

  test('gets the job with its input as it was sent, large ones too, and all other members', async () => {
    const input = '{"do":"job","n":12345678901234567890,"e":1e400,"u":"\\u00e9"}'.replace('1e400', '1e2') as RawJson;
    const extras = {
      webhook: 'https://example.org/hook',
      policy: { ttl: 60_000 },
      s3Config: { accessId: 'a' },
      own: 1,
    };
    const small = agent.router.submit({ id: 'sync-1a2b', input, extras, endpointId: 'epwide' });
    expect((await endOf(small)).output).toEqual({
      id: 'sync-1a2b',
      input: JSON.parse(input) as unknown,
      ...extras,
      delayTime: 12,
      retries: 0,
    });
    expect((await endOf(small)).outputText).toContain('12345678901234567890');
    const large = submit('wide', { do: 'echo', text: 'x'.repeat(3_000_000) });
    expect((await endOf(large)).output).toEqual({ do: 'echo', text: 'x'.repeat(3_000_000) });
    const nothing = submit('stream', { words: [] });
    expect((await endOf(nothing)).result).toMatchObject({ kind: 'completed', output: { json: '[]' } });
  });

  test('streams: chunks in order, then the end; an error in the middle ends the job, not the stream', async () => {
    const words = Array.from({ length: 40 }, (_, order) => `word ${order}`);
    const plain = submit('stream', { words });
    const ended = await endOf(plain);
    expect(ended).toMatchObject({ result: { kind: 'completed' }, output: [], chunks: 40 });
    const chunks = agent.router.chunkTexts(plain).map((text) => JSON.parse(text) as unknown);
    expect(chunks).toEqual(words.map((output) => ({ output })));
    const raised = submit('stream', { words: ['one'], do: 'raise' });
    expect(await endOf(raised)).toMatchObject({ chunks: 1, result: { kind: 'failed', output: null } });
    expect(JSON.stringify((await endOf(raised)).result)).toContain('raised in the middle');
    const yielded = submit('stream', { words: ['one'], do: 'error' });
    expect(await endOf(yielded)).toMatchObject({ chunks: 1, result: { kind: 'failed', error: 'yielded error' } });
    const whole = submit('whole', { words: ['a', 'b'] });
    expect(await endOf(whole)).toMatchObject({ output: ['a', 'b'], chunks: 2 });
  });

  test('has chunks above 1 MB split without a byte lost', async () => {
    const jobId = submit('stream', { do: 'large', characters: 1_200_000, items: 300_000 });
    const { chunks } = await endOf(jobId);
    const texts = agent.router.chunkTexts(jobId);
    expect(texts).toHaveLength(chunks);
    expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(1_000_000);
    const pieces = texts.map((text) => JSON.parse(text) as { output: string; part?: { index: number; count: number } });
    const strings = pieces.filter(({ part }) => part === undefined).map(({ output }) => output);
    expect(strings.join('')).toBe('ä'.repeat(1_200_000));
    const parts = pieces.filter(({ part }) => part !== undefined);
    expect(parts.map(({ part }) => part)).toEqual(parts.map((_, index) => ({ index, count: parts.length })));
    const value = JSON.parse(parts.map(({ output }) => output).join('')) as { items: number[] };
    expect(value.items).toHaveLength(300_000);
  });

  test('lets go of a cancelled job through the stop channel, and its other jobs go on', async () => {
    const cancelled = submit('wide', { do: 'sleep', seconds: 60 });
    const other = submit('wide', { do: 'sleep', seconds: 4 });
    await eventually(() => {
      expect(agent.bridge.state(worker('wide').registration.workerId)).toMatchObject({ runningJobs: 2 });
    }, WAIT);
    agent.router.cancel(cancelled);
    expect((await endOf(other)).output).toEqual({ slept: 4 });
    await eventually(() => {
      expect(agent.eventsOf('job-ended')).toContainEqual(
        expect.objectContaining({ jobId: cancelled, outcome: 'stopped' }),
      );
    }, WAIT);
    expect(worker('wide').output).toContain('Job stopped');
    expect(agent.eventsOf('kill-needed')).toEqual([]);
    expect(agent.router.ended.has(cancelled)).toBe(false);
  });

  test('asks to be replaced with stopPod, after its result is safe', async () => {
    const jobId = submit('whole', { words: [] });
    await endOf(jobId);
    const refreshed = submit('wide', { do: 'refresh' });
    expect((await endOf(refreshed)).output).toEqual({ answer: 'then replace me' });
    await eventually(() => {
      expect(agent.eventsOf('recycle-wanted')).toEqual([
        { kind: 'recycle-wanted', workerId: 'wide', reason: 'the worker asked to be replaced' },
      ]);
    }, WAIT);
    const { workerId } = worker('wide').registration;
    expect(agent.bridge.state(workerId)).toMatchObject({
      wantsRecycle: 'the worker asked to be replaced',
      sdkVersion: CURRENT,
    });
  });

  test('drains without losing a job: the running one ends, the process exits by itself with 0', async () => {
    const jobId = submit('single', { do: 'sleep', seconds: 2 });
    await eventually(() => {
      expect(agent.router.stateOf(jobId)).toBe('running');
      expect(agent.eventsOf('job-started').map((event) => event.jobId)).toContain(jobId);
    }, WAIT);
    const late = submit('single', { do: 'echo' });
    const { workerId } = worker('single').registration;
    await agent.bridge.beginDrain(workerId);
    worker('single').terminate();
    expect((await endOf(jobId)).output).toEqual({ slept: 2 });
    expect(await worker('single').exited).toBe(0);
    await agent.bridge.unregister(workerId, { reason: 'scaled down', isFault: false });
    expect(agent.bridge.state(workerId)).toBeNull();
    expect(['queued', 'running']).toContain(agent.router.stateOf(late));
    expect(agent.router.losses.filter(({ isCharged }) => isCharged)).toEqual([]);
  });
});

describe.each(OLDER)('a worker with SDK %s', (version) => {
  const id = `v${version.replaceAll('.', '')}`;

  test('completes, fails and raises as the current one does', async () => {
    const jobs = [submit(id, { do: 'echo', n: 1 }), submit(id, { do: 'error' }), submit(id, { do: 'raise' })];
    const [echo, error, raised] = await Promise.all(jobs.map(endOf));
    expect(echo).toMatchObject({ result: { kind: 'completed' }, output: { do: 'echo', n: 1 } });
    expect(error?.result).toMatchObject({ kind: 'failed', error: "a handler's own error" });
    expect(raised?.result).toMatchObject({ kind: 'failed', output: null });
  });
});
