import { expect, test } from '@jest/globals';
import { letRun } from '@berth/testing';
import { DeskScene, ENDPOINT, large } from '../../../test/model/desk-scene.js';

const runAll = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await letRun();
};

test('a take costs the wait for one append, whatever is written behind it', async () => {
  const scene = await new DeskScene().start();
  const jobId = await scene.submit({}, large());
  scene.isHolding = true;
  const given = scene.assigner.give(ENDPOINT, [scene.takeWish()]);
  const told: unknown[] = [];
  void given.then(async (takes) => {
    const [take = { jobs: [] }] = takes === 'silent' ? [] : takes;
    told.push(await scene.assigner.assign(ENDPOINT, take));
  });
  await runAll();
  void scene.submit();
  await runAll();
  expect([scene.held.length, told]).toEqual([1, []]);
  scene.held.shift()?.();
  await runAll();
  // The submit is on its way, and is not answered.
  expect(scene.held).toHaveLength(1);
  expect(told).toMatchObject([[{ jobId, attempt: 1, body: { input: large() } }]]);
});

test('a body that was carried meanwhile is looked for anew', async () => {
  const scene = await new DeskScene().start();
  const jobId = await scene.submit({}, large());
  const takes = await scene.assigner.give(ENDPOINT, [scene.takeWish()]);
  const [take] = takes === 'silent' ? [] : takes;
  if (take?.seen === undefined) throw new Error('nothing was given');
  const list = take.seen.list.map((each) => ({ ...each, body: { value: null, reference: null } }));
  const seen = { ...take.seen, list };
  expect(await scene.assigner.assign(ENDPOINT, { ...take, seen })).toMatchObject([{ jobId, body: { input: large() } }]);
});
