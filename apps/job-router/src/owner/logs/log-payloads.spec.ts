import { encodeJson } from '@berth/domain';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { DeskScene, ENDPOINT, large } from '../../../test/model/desk-scene.js';

let scene: DeskScene;
beforeEach(async () => {
  scene = await new DeskScene().start();
});

/** The same log in the hands of an owner that has read nothing of it yet. */
async function taken(from: DeskScene): Promise<DeskScene> {
  const next = new DeskScene();
  let after = 0;
  for (const entry of from.model.view(ENDPOINT)) {
    if (!('facts' in entry)) continue;
    next.model.skipSequences(entry.sequence - after - 1);
    next.model.store({ ...entry, endpointId: ENDPOINT, after: next.model.lastSequence(ENDPOINT) });
    after = entry.sequence;
  }
  return next.start();
}

describe('an output that is not in memory', () => {
  test('is remembered from its commit', async () => {
    const jobId = await scene.submit();
    await scene.finish(await scene.takeOne(), large());
    expect(await scene.find(jobId)).toMatchObject({ state: 'COMPLETED', output: large() });
    expect(scene.reads).toEqual([]);
  });

  test('is read once where it lies, however many ask at one time, and remembered', async () => {
    const jobId = await scene.submit();
    await scene.finish(await scene.takeOne(), large());
    const next = await taken(scene);
    const seen = await Promise.all([next.find(jobId), next.find(jobId), next.find(jobId)]);
    for (const each of seen) expect(each).toMatchObject({ output: large() });
    await next.find(jobId);
    expect(next.reads).toHaveLength(1);
  });

  test('is looked for anew where it has been carried meanwhile', async () => {
    const jobId = await scene.submit({ retentionMs: 86_400_000 });
    await scene.finish(await scene.takeOne(), large());
    for (let dead = 0; dead < 8; dead += 1) {
      const gone = await scene.submit({ retentionMs: 1_000 }, large());
      await scene.answer('perform', { command: { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId: gone } });
    }
    const next = await taken(scene);
    const before = next.model.view(ENDPOINT).at(0)?.sequence ?? 0;
    await next.clock.advance(3_700_000);
    await next.answer('count', {});
    next.onRead = async () => {
      next.onRead = () => Promise.resolve();
      await next.owner.tend();
    };
    expect(await next.find(jobId)).toMatchObject({ output: large() });
    expect(next.model.view(ENDPOINT).at(0)?.sequence).toBeGreaterThan(before);
  });

  test('is answered with silence where the broker does not say, or says what are no facts', async () => {
    const jobId = await scene.submit();
    await scene.finish(await scene.takeOne(), large());
    const next = await taken(scene);
    next.isAway = true;
    expect(await next.ask('find', { jobId, watcher: null })).toBe('silent');
    next.isAway = false;
    next.isHarmed = true;
    expect(await next.ask('find', { jobId, watcher: null })).toBe('silent');
    expect(next.unreadable).toContain(scene.model.lastSequence(ENDPOINT));
    next.isHarmed = false;
    expect(await next.find(jobId)).toMatchObject({ output: large() });
  });
});

describe('jobs that are given', () => {
  test('are told with bodies large and small, read together', async () => {
    const small = { kind: 'inline', json: encodeJson(1) } as const;
    const ids = [await scene.submit({}, large('a')), await scene.submit({}, small), await scene.submit({}, large('b'))];
    const next = await taken(scene);
    const jobs = await next.take(3);
    const assigned = await next.assigner.assign(ENDPOINT, { jobs });
    expect(assigned).toMatchObject(
      [large('a'), small, large('b')].map((input, at) => ({ jobId: ids[at], attempt: 1, body: { input } })),
    );
    expect(new Set(next.reads).size).toBe(next.reads.length);
  });

  test('are told with what is left of their time when they are told', async () => {
    await scene.submit({ executionTimeoutMs: 60_000, ttlMs: 100_000 }, large());
    const next = await taken(scene);
    const jobs = await next.take();
    next.onRead = () => next.clock.advance(5_000);
    expect(await next.assigner.assign(ENDPOINT, { jobs })).toMatchObject([
      { executionTimeoutMs: 55_000, expiresInMs: 95_000, delayTimeMs: 0 },
    ]);
  });

  test('are left out where their attempt is over by now, or never was', async () => {
    await scene.submit();
    const proof = await scene.takeOne();
    expect(await scene.assigner.assign(ENDPOINT, { jobs: [{ ...proof, token: 'forged' }] })).toEqual([]);
    expect(await scene.assigner.assign(ENDPOINT, { jobs: [proof] })).toHaveLength(1);
    await scene.finish(proof);
    expect(await scene.assigner.assign(ENDPOINT, { jobs: [proof] })).toEqual([]);
  });
});
