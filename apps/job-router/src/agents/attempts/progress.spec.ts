import { OUTPUT_MAX_BYTES, encodeJson, type Payload } from '@berth/domain';
import { letRun } from '@berth/testing';
import { beforeEach, expect, test } from '@jest/globals';
import { AgentsScene, ENDPOINT, HOST } from '../../../test/model/agents-scene.js';
import { Progress } from './progress.js';

let scene: AgentsScene;
let progress: Progress;

beforeEach(() => {
  scene = new AgentsScene();
  progress = new Progress({ ...scene, owners: scene.attempts });
});

const outputOf = (value: unknown): Payload => ({ kind: 'inline', json: encodeJson(value) });

/** What was shown, in order. */
const shown = (): readonly unknown[] =>
  scene.owners.facts.flatMap((fact) =>
    fact.kind === 'progressed' && fact.output.kind === 'inline' ? [JSON.parse(fact.output.json) as unknown] : [],
  );

test('progress is shown', async () => {
  const ref = scene.take();
  expect(await progress.show(HOST, { ...ref, output: outputOf(1) })).toEqual({ outcome: 'recorded' });
  expect([shown(), progress.active]).toEqual([[1], 0]);
});

test('what comes too soon waits for its time, and only the newest of it is shown', async () => {
  const ref = scene.take();
  const answers = [];
  for (const value of [1, 2, 3, 4]) answers.push(await progress.show(HOST, { ...ref, output: outputOf(value) }));
  // Nobody waits for it: the host has other things to say of the attempt.
  expect(answers.every(({ outcome }) => outcome === 'recorded')).toBe(true);
  expect(shown()).toEqual([1]);
  await scene.clock.advance(999);
  expect(shown()).toEqual([1]);
  await scene.clock.advance(1);
  expect([shown(), progress.active]).toEqual([[1, 4], 0]);
});

test('what comes while another is being told follows it', async () => {
  const ref = scene.take();
  const first = progress.show(HOST, { ...ref, output: outputOf(1) });
  const second = progress.show(HOST, { ...ref, output: outputOf(2) });
  await Promise.all([first, second]);
  expect(shown()).toEqual([1]);
  await scene.clock.advance(1_000);
  expect([shown(), progress.active]).toEqual([[1, 2], 0]);
});

test('jobs do not wait for one another', async () => {
  const [first, second] = [scene.take(), scene.take()];
  for (const ref of [first, second, first, second]) await progress.show(HOST, { ...ref, output: outputOf(ref.jobId) });
  expect(shown()).toEqual([first.jobId, second.jobId]);
  await scene.clock.advance(1_000);
  expect(shown()).toEqual([first.jobId, second.jobId, first.jobId, second.jobId]);
});

test('progress of an attempt that is over is dropped, also where it waited', async () => {
  const ref = scene.take();
  await progress.show(HOST, { ...ref, output: outputOf(1) });
  await progress.show(HOST, { ...ref, output: outputOf(2) });
  scene.owners.perform(ENDPOINT, { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId: ref.jobId });
  await scene.clock.advance(1_000);
  expect([shown(), progress.active]).toEqual([[1], 0]);
  expect(await progress.show(HOST, { ...ref, output: outputOf(3) })).toEqual({ outcome: 'superseded' });
  expect(await progress.show('thief' as never, { ...ref, output: outputOf(3) })).toEqual({ outcome: 'superseded' });
});

test('what a log has no room for lies beside it', async () => {
  const ref = scene.take();
  const large = encodeJson('x'.repeat(OUTPUT_MAX_BYTES));
  expect(await progress.show(HOST, { ...ref, output: { kind: 'inline', json: large } })).toEqual({
    outcome: 'recorded',
  });
  const [fact] = scene.owners.facts.flatMap((each) => (each.kind === 'progressed' ? [each] : []));
  if (fact?.output.kind !== 'blob') throw new Error('no blob was shown');
  expect([fact.outputBytes, fact.output.manifest.name]).toEqual([
    large.length,
    expect.stringMatching(/^progress1-\d+$/),
  ]);
  const bytes = await scene.blobs.read(ref, fact.output.manifest);
  expect(Buffer.from(bytes ?? []).toString()).toBe(large);
});

test('what is too large and of an attempt that is over is not even stored', async () => {
  const ref = scene.take();
  scene.owners.perform(ENDPOINT, { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId: ref.jobId });
  const output = outputOf('x'.repeat(OUTPUT_MAX_BYTES));
  expect(await progress.show(HOST, { ...ref, output })).toEqual({ outcome: 'superseded' });
});

test('a host hears where no owner answers, and the next progress is shown', async () => {
  const ref = scene.take();
  scene.owners.lostAnswers = 1;
  await expect(progress.show(HOST, { ...ref, output: outputOf(1) })).rejects.toMatchObject({
    code: 'service-unavailable',
  });
  await scene.clock.advance(1_000);
  await progress.show(HOST, { ...ref, output: outputOf(2) });
  expect([shown(), progress.active]).toEqual([[1, 2], 0]);
});

test('where no owner answers for what waits, it is let go', async () => {
  const ref = scene.take();
  await progress.show(HOST, { ...ref, output: outputOf(1) });
  await progress.show(HOST, { ...ref, output: outputOf(2) });
  scene.owners.lostAnswers = 1;
  await scene.clock.advance(1_000);
  expect(progress.active).toBe(0);
});

test('what waits is let go at the end', async () => {
  const ref = scene.take();
  await progress.show(HOST, { ...ref, output: outputOf(1) });
  await progress.show(HOST, { ...ref, output: outputOf(2) });
  progress.close();
  await letRun();
  expect(progress.active).toBe(0);
});
