import type { AttemptRef } from '@berth/contracts';
import { encodeJson, type RawJson } from '@berth/domain';
import { letRun } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AgentsScene, ENDPOINT, HOST } from '../../../test/model/agents-scene.js';
import { Streaming } from './streaming.js';

let scene: AgentsScene;
let streaming: Streaming;

beforeEach(() => {
  scene = new AgentsScene();
  streaming = new Streaming({ ...scene, owners: scene.attempts });
});

const bodyOf = (text: string): RawJson => encodeJson({ output: text });

const chunksOf = async (ref: AttemptRef): Promise<readonly string[]> =>
  (await scene.chunks.read({ ...ref, fromIndex: 0, limit: 100 })).map(({ body }) => body);

describe('a chunk', () => {
  test('is written as it came, and whoever waits for its job is told', async () => {
    const ref = scene.take();
    scene.owners.watchers.push('router-1', 'router-2');
    expect(await streaming.chunk(HOST, { ...ref, index: 0, body: '{"output": 1.0}' as RawJson })).toEqual({
      outcome: 'recorded',
    });
    expect(await chunksOf(ref)).toEqual(['{"output": 1.0}']);
    const notice = { endpointId: ENDPOINT, jobs: [{ jobId: ref.jobId, now: 'moved' }] };
    expect(scene.told).toEqual([{ routers: ['router-1', 'router-2'], notice }]);
  });

  test('that nobody waits for is told to nobody', async () => {
    await streaming.chunk(HOST, { ...scene.take(), index: 0, body: bodyOf('a') });
    expect(scene.told).toEqual([]);
  });

  test('of an attempt that is over, or of another host, is dropped', async () => {
    const ref = scene.take();
    const stolen = await streaming.chunk('thief' as never, { ...ref, index: 0, body: bodyOf('a') });
    scene.owners.perform(ENDPOINT, { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId: ref.jobId });
    const late = await streaming.chunk(HOST, { ...ref, index: 0, body: bodyOf('a') });
    expect([stolen, late]).toEqual([{ outcome: 'superseded' }, { outcome: 'superseded' }]);
    expect(await chunksOf(ref)).toEqual([]);
  });

  test('costs something also where it is empty', async () => {
    scene.owners.chunkBytesMax = 1_000;
    const ref = scene.take();
    const outcomes: string[] = [];
    for (let index = 0; index < 4; index += 1) {
      outcomes.push((await streaming.chunk(HOST, { ...ref, index, body: '{}' as RawJson })).outcome);
    }
    expect(outcomes).toEqual(['recorded', 'recorded', 'recorded', 'superseded']);
  });
});

describe('a stream that outgrows what it may have', () => {
  test('ends its job with a sentence that says so, and with everything that was streamed', async () => {
    scene.owners.chunkBytesMax = 2_000;
    const [ref, other] = [scene.take(), scene.take()];
    const chunk = (of: AttemptRef, index: number) =>
      streaming.chunk(HOST, { ...of, index, body: bodyOf('x'.repeat(500)) });
    expect([await chunk(ref, 0), await chunk(ref, 1)]).toEqual([{ outcome: 'recorded' }, { outcome: 'recorded' }]);
    // So the host knows that the attempt is over, and has its worker stop.
    expect(await chunk(ref, 2)).toEqual({ outcome: 'superseded' });
    expect(scene.job(ref)).toMatchObject({
      ...{ state: 'FAILED', chunks: 2, charged: 0 },
      error: expect.stringMatching(/^the job streamed more than the 2000 bytes/),
    });
    expect(await chunksOf(ref)).toHaveLength(2);
    expect(await scene.count('results', { kind: 'overfull', outcome: 'recorded' })).toBe(1);
    expect([await chunk(ref, 3), await chunk(other, 0)]).toEqual([{ outcome: 'superseded' }, { outcome: 'recorded' }]);
  });

  test('waits for the chunks before, which are sent side by side', async () => {
    scene.owners.chunkBytesMax = 2_000;
    const ref = scene.take();
    const large = bodyOf('x'.repeat(3_000));
    const refused = streaming.chunk(HOST, { ...ref, index: 2, body: large });
    await letRun();
    expect(scene.job(ref)?.state).toBe('IN_PROGRESS');
    for (const index of [1, 0]) await streaming.chunk(HOST, { ...ref, index, body: bodyOf('a') });
    await scene.clock.advance(250);
    expect(await refused).toEqual({ outcome: 'superseded' });
    expect(scene.job(ref)).toMatchObject({ state: 'FAILED', chunks: 2 });
  });

  test('ends where the first of several chunks was refused', async () => {
    scene.owners.chunkBytesMax = 2_000;
    const ref = scene.take();
    const large = bodyOf('x'.repeat(3_000));
    const refused = [3, 1].map((index) => streaming.chunk(HOST, { ...ref, index, body: large }));
    await streaming.chunk(HOST, { ...ref, index: 0, body: bodyOf('a') });
    await scene.clock.advance(500);
    expect(await Promise.all(refused)).toEqual([{ outcome: 'superseded' }, { outcome: 'superseded' }]);
    expect(scene.job(ref)).toMatchObject({ state: 'FAILED', chunks: 1 });
    expect(await scene.count('results', { kind: 'overfull' })).toBe(1);
  });

  test('does not wait for ever for a chunk that does not come: what there is up to it stays', async () => {
    scene.owners.chunkBytesMax = 2_000;
    const ref = scene.take();
    await streaming.chunk(HOST, { ...ref, index: 0, body: bodyOf('a') });
    const refused = streaming.chunk(HOST, { ...ref, index: 2, body: bodyOf('x'.repeat(3_000)) });
    await scene.clock.advance(3_000);
    expect(await refused).toEqual({ outcome: 'superseded' });
    expect(scene.job(ref)).toMatchObject({ state: 'FAILED', chunks: 1 });
  });
});
