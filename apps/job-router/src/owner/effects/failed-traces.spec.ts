import {
  PlatformError,
  encodeJson,
  type AttemptProof,
  type CountedEnd,
  type EndpointId,
  type JobBody,
  type JobId,
  type TouchedJob,
} from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { letRun } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DeskScene, HOST } from '../../../test/model/desk-scene.js';
import type { Said } from '../logs/endpoint-logs.js';
import { FailedTraces } from './failed-traces.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const ROOT = '00f067aa0ba902b7';

let scene: DeskScene;
let outcomes: [string, number][];

beforeEach(async () => {
  scene = new DeskScene();
  outcomes = [];
  const { clock, logs, payloads, traces } = scene;
  const onOver = (outcome: string, count: number): void => void outcomes.push([outcome, count]);
  const failures = new FailedTraces({ logs, payloads, traces, clock, logger: silentLogger, onOver });
  scene.onTouched = (endpointId, touched) => failures.note(endpointId, touched);
  await scene.start();
});

const bodyOf = (flags: '00' | '01'): JobBody => ({
  ...{ input: { kind: 'inline', json: encodeJson({}) }, extras: encodeJson({}), sealedExtras: null },
  traceparent: `00-${TRACE}-${ROOT}-${flags}`,
});

const submit = (flags: '00' | '01'): Promise<JobId> => scene.submit({ body: bodyOf(flags) });

async function fail(proof: AttemptProof): Promise<void> {
  const shown = { output: null, outputBytes: 0, chunks: 0, logTail: [] };
  const command = { kind: 'finish', ...proof, state: 'FAILED', error: 'Traceback: hunter2', ...shown } as const;
  await scene.answer('perform', { command });
  await letRun();
}

describe('a job that fails', () => {
  test('has its whole trace although nobody meant to record it, made of the times in its log', async () => {
    const createdAtMs = scene.clock.nowMs();
    const jobId = await submit('00');
    await scene.clock.advance(3_000);
    const proof = await scene.takeOne();
    await scene.clock.advance(5_000);
    await fail(proof);
    expect(scene.spans.map(({ endMs, name, startMs }) => [name, startMs - createdAtMs, endMs - createdAtMs])).toEqual([
      ['wait in queue', 0, 3_000],
      ['process job', 3_000, 8_000],
      ['job', 0, 8_000],
    ]);
    const [wait, attempt, job] = scene.spans;
    expect(job).toMatchObject({
      ...{ context: { traceId: TRACE }, parentSpanId: ROOT, error: 'FAILED' },
      attributes: { 'messaging.message.id': jobId, 'berth.trace.afterwards': true },
    });
    expect(wait?.parentSpanId).toBe(job?.context.spanId);
    expect(attempt).toMatchObject({ error: 'FAILED', attributes: { 'berth.host.id': HOST } });
    expect(outcomes).toEqual([['recorded', 1]]);
    expect(JSON.stringify(scene.spans)).not.toContain('hunter2');
  });

  test('in a recorded trace adds its end only: all else was told when it was', async () => {
    await submit('01');
    await fail(await scene.takeOne());
    expect(scene.spans.map(({ name }) => name)).toEqual(['commit job', 'job']);
  });

  test.each<[string, () => Promise<Said<never>>]>([
    ['the broker does not answer', () => Promise.reject(new PlatformError('service-unavailable', 'No answer.'))],
    ['its owner says nothing', () => Promise.resolve('silent')],
    ['more waits than its owner holds', () => Promise.resolve({ kind: 'refused', reason: 'busy' })],
  ])('is counted where its log is not read: %s', async (_name, read) => {
    const { clock, payloads, traces } = scene;
    const onOver = (outcome: string, count: number): void => void outcomes.push([outcome, count]);
    const logs = { read };
    const failures = new FailedTraces({ logs, payloads, traces, clock, logger: silentLogger, onOver });
    scene.onTouched = (endpointId, touched) => failures.note(endpointId, touched);
    await submit('00');
    await fail(await scene.takeOne());
    expect([scene.spans, outcomes]).toEqual([[], [['unread', 1]]]);
  });
});

test('a job that comes to its end well adds nothing, and nothing is kept of it', async () => {
  await submit('00');
  await scene.finish(await scene.takeOne());
  await letRun();
  expect([scene.spans, outcomes]).toEqual([[], []]);
});

describe('of many that end at once', () => {
  let failures: FailedTraces;
  beforeEach(() => {
    failures = new FailedTraces({
      ...{ payloads: scene.payloads, traces: scene.traces, clock: scene.clock, logger: silentLogger },
      logs: { read: () => new Promise(() => undefined) },
      onOver: (outcome, count) => void outcomes.push([outcome, count]),
    });
  });

  const end = (endpoint: string, outcome: CountedEnd['outcome'], count: number): void => {
    const touched = Array.from({ length: count }, (_, at): TouchedJob => ({
      ...{ jobId: `job-${at}` as JobId, now: 'ended', stop: null, leftovers: null },
      end: { outcome, executionMs: null },
    }));
    failures.note(endpoint as EndpointId, touched);
  };

  test('one endpoint leaves room for others, and the rest are counted', () => {
    end('a', 'FAILED', 60);
    end('a', 'TIMED_OUT', 60);
    expect(outcomes).toEqual([['dropped', 56]]);
    for (const endpoint of ['b', 'c', 'd', 'e']) end(endpoint, 'FAILED', 64);
    expect(outcomes).toEqual([
      ['dropped', 56],
      ['dropped', 64],
    ]);
  });

  test('those that do not fail take no room', () => {
    for (const endpoint of ['a', 'b', 'c', 'd']) {
      end(endpoint, 'COMPLETED', 100);
      end(endpoint, 'CANCELLED', 100);
      end(endpoint, 'FAILED', 64);
    }
    expect(outcomes).toEqual([]);
  });
});
