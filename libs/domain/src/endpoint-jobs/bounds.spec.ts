import { expect, test } from '@jest/globals';
import { expectSameReplay } from '../../test/endpoint-jobs/play-story.js';
import { Scene } from '../../test/endpoint-jobs/scene.js';
import type { HostId, WorkerId } from '../ids.js';
import { encodeJson } from '../json/index.js';
import { utf8Bytes } from '../text/index.js';
import { BATCH_MAX_BYTES, ENDPOINT_BOUNDS_DEFAULT, SLICE_MAX, SUMMARY_MAX_BYTES } from './bounds.js';
import { LEGAL_FACTS } from './legal-facts.js';

const ID_MAX_CHARACTERS = 128;
const LONG = `${'"é\\'.repeat(40_000)}the end`;

/** What a fault of the largest kind leaves at most in any line of the log: input, extras, output and history. */
const sizes = (scene: Scene): readonly number[] => scene.log.facts().map((fact) => utf8Bytes(encodeJson(fact)));

test('a job that was tried a thousand times with the longest errors still fits into one batch', () => {
  const scene = new Scene();
  const json = encodeJson({ text: '"'.repeat(32_000) });
  const body = { input: { kind: 'inline', json }, extras: json, sealedExtras: null, traceparent: null } as const;
  const jobId = scene.submit({ body, bodyBytes: 2 * utf8Bytes(json), executionTimeoutMs: 5_000 });
  const logTail = Array.from({ length: 20 }, () => LONG.slice(0, 500));
  for (let round = 0; round < 1_000; round += 1) {
    const proof = scene.takeOne();
    const output = { kind: 'inline', json: encodeJson('"'.repeat(32_000)) } as const;
    const shown = { output, outputBytes: 64_002, chunks: 1, logTail };
    scene.ask({ kind: 'finish', ...proof, state: 'FAILED', error: LONG, ...shown });
    if (round < 999) scene.retry(jobId);
  }
  scene.pass(130_000);
  scene.log.carry(scene.nowMs, 1);
  expect(scene.log.facts().map(({ kind }) => kind)).toEqual(['carried', 'totals']);
  expect(Math.max(...sizes(scene))).toBeLessThanOrEqual(BATCH_MAX_BYTES);
  expect(scene.state.jobs.get(jobId)?.data).toMatchObject({ attempt: 1_000, state: 'FAILED' });
  expectSameReplay(scene.log, scene.nowMs);
});

test('a lost attempt of the longest words, and every summary, are within their bounds', () => {
  const scene = new Scene();
  scene.submit({ origin: 'runsync', webhook: `https://me:secret@${'"'.repeat(4_000)}:65535/secret` });
  const longestId = 'x'.repeat(ID_MAX_CHARACTERS);
  for (let round = 0; round < 3; round += 1) {
    scene.giveUp(scene.takeOne({ hostId: longestId as HostId, workerId: longestId as WorkerId }), true, LONG);
    scene.pass(40_000);
  }
  expect(Math.max(...sizes(scene))).toBeLessThan(16 * 1024);
  const summaries = scene.log.facts().flatMap((fact) => ('summary' in fact ? [fact.summary] : []));
  expect(summaries.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
  for (const summary of summaries) {
    expect(utf8Bytes(encodeJson(summary))).toBeLessThanOrEqual(SUMMARY_MAX_BYTES);
    expect(summary.webhook).toMatch(/^https:\/\/"+…$/);
  }
});

test('an output above the bound is refused, and may come as a blob', () => {
  const scene = new Scene();
  const jobId = scene.submit();
  const proof = scene.takeOne();
  const output = { kind: 'inline', json: encodeJson('x'.repeat(70_000)) } as const;
  const word = { kind: 'finish', ...proof, state: 'COMPLETED', error: null, chunks: 0, logTail: [] } as const;
  expect(scene.ask({ ...word, output, outputBytes: 70_002 })).toMatchObject({ code: 'body-too-large' });
  const manifest = { name: 'out', parts: 1, sizeBytes: 70_002, sha256: 'ab' };
  expect(scene.ask({ ...word, output: { kind: 'blob', manifest }, outputBytes: 70_002 })).toEqual({ kind: 'recorded' });
  expect(scene.stateOf(jobId)).toBe('COMPLETED');
});

test.each([
  ['too-many-jobs', { livingJobs: 2 }],
  ['too-many-bytes', { livingBytes: 150 }],
  ['too-many-deliveries', { pendingDeliveries: 0 }],
] as const)(
  'what is over a tenant’s share is refused as %s, all of it, and says when to come again',
  (reason, bound) => {
    const scene = new Scene();
    const jobs = [1, 2, 3].map(() => scene.wish({ bodyBytes: 60, webhook: 'https://example.com' }));
    const answer = scene.submitAll(jobs, { ...ENDPOINT_BOUNDS_DEFAULT, ...bound });
    expect(answer).toMatchObject({ kind: 'refused', reason, code: 'limit-reached', retryAfterMs: expect.any(Number) });
    expect(scene.state.jobs.size).toBe(0);
  },
);

test('a large purge goes in slices, counts exactly, and leaves what comes between them', () => {
  const scene = new Scene();
  const count = 2 * SLICE_MAX + 500;
  for (let made = 0; made < count; made += 500) {
    const size = Math.min(500, count - made);
    scene.submitAll(Array.from({ length: size }, (_, at) => scene.wish({ isLowPriority: at % 3 === 0 })));
  }
  const held = scene.take(2);
  const facts = scene.log.facts().length;
  expect(scene.purge('p1')).toEqual({ kind: 'purged', removed: count - 2 });
  const slices = scene.log.facts().slice(facts);
  expect(slices.map((fact) => fact.kind === 'purged' && fact.count)).toEqual([SLICE_MAX, SLICE_MAX, 498]);
  const later = scene.submit();
  expect(scene.purge('p1')).toEqual({ kind: 'purged', removed: count - 2 });
  expect([scene.stateOf(later), ...held.map(({ jobId }) => scene.stateOf(jobId))]).toEqual([
    'IN_QUEUE',
    'IN_PROGRESS',
    'IN_PROGRESS',
  ]);
  expectSameReplay(scene.log, scene.nowMs);
});

test('lives that end at one instant go in slices, each before anything else is decided', () => {
  const scene = new Scene();
  for (let made = 0; made < 2; made += 1) {
    scene.submitAll(Array.from({ length: SLICE_MAX + 100 }, () => scene.wish({ ttlMs: 10_000 })));
  }
  scene.pass(10_000);
  expect(scene.take(5)).toEqual([]);
  const counts = scene.log.facts().flatMap((fact) => (fact.kind === 'expired' ? [fact.count] : []));
  expect(counts).toEqual([SLICE_MAX, SLICE_MAX, 200]);
  expectSameReplay(scene.log, scene.nowMs);
});

test('a batch whose living outgrew it is carried in several, and covered by the last of them', () => {
  const scene = new Scene();
  const json = encodeJson('x'.repeat(60_000));
  const body = {
    input: { kind: 'inline', json },
    extras: encodeJson({}),
    sealedExtras: null,
    traceparent: null,
  } as const;
  scene.submitAll(Array.from({ length: 12 }, () => scene.wish({ body, bodyBytes: 60_002 })));
  scene.pass(130_000);
  for (let round = 0; round < 3; round += 1) scene.log.carry(scene.nowMs, 1);
  const carried = scene.log.facts().filter(({ kind }) => kind === 'carried');
  expect(carried).toHaveLength(12);
  expect(Math.max(...scene.log.batches.map(({ text }) => utf8Bytes(text)))).toBeLessThanOrEqual(BATCH_MAX_BYTES);
  expectSameReplay(scene.log, scene.nowMs);
});

test('every kind of fact is legal somewhere', () => {
  const legal = new Set(Object.values(LEGAL_FACTS).flat());
  const scene = new Scene();
  for (const { kind } of scene.log.facts()) expect(legal).toContain(kind);
  expect(legal.size).toBe(20);
});
