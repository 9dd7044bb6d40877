import { createHash } from 'node:crypto';
import type { AttemptRef, DoneResult, ReportReply } from '@berth/contracts';
import { BLOB_PART_BYTES, OUTPUT_MAX_BYTES, encodeJson, type Payload } from '@berth/domain';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { AgentsScene, ENDPOINT, HOST } from '../../../test/model/agents-scene.js';
import { Reporting } from './reporting.js';

let scene: AgentsScene;
let reporting: Reporting;

beforeEach(() => {
  scene = new AgentsScene();
  reporting = new Reporting({ ...scene, owners: scene.attempts });
});

const done = (ref: AttemptRef, result: DoneResult, chunks = 0): Promise<ReportReply> =>
  reporting.done(HOST, { ...ref, result, chunks, traceparent: null });

const inline = (value: unknown): Payload => ({ kind: 'inline', json: encodeJson(value) });
const RECORDED = { outcome: 'recorded' };
const SUPERSEDED = { outcome: 'superseded' };

/** The output that the job's end names. */
const outputOf = (ref: AttemptRef): Payload | null | undefined =>
  scene.owners.facts.flatMap((fact) => (fact.kind === 'finished' && fact.jobId === ref.jobId ? [fact.output] : []))[0];

const cancel = ({ jobId }: AttemptRef): void => {
  scene.owners.perform(ENDPOINT, { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId });
};

describe('a host reports', () => {
  test.each<[string, DoneResult, object]>([
    ['an output', { kind: 'completed', output: inline({ a: 1 }) }, { state: 'COMPLETED', error: null, chunks: 3 }],
    ['no output', { kind: 'completed', output: null }, { state: 'COMPLETED', error: null, outputBytes: 0 }],
    [
      'an error and an output',
      { kind: 'failed', error: 'it broke', output: inline(1) },
      { state: 'FAILED', error: 'it broke', outputBytes: 1, chunks: 3 },
    ],
    [
      'that the time is over',
      { kind: 'timed-out' },
      { state: 'TIMED_OUT', error: 'executionTimeout exceeded', outputBytes: 0, chunks: 3 },
    ],
  ])('%s', async (_, result, expected) => {
    const ref = scene.take();
    expect(await done(ref, result, 3)).toEqual(RECORDED);
    expect(scene.job(ref)).toMatchObject(expected);
    // It repeats what it got no answer to.
    expect(await done(ref, result, 3)).toEqual(RECORDED);
    expect(await scene.count('results', { kind: result.kind, outcome: 'recorded' })).toBe(2);
  });

  test('an attempt that is over, or not its own, and is told so', async () => {
    const ref = scene.take();
    const result = { kind: 'completed', output: null } as const;
    expect(await done({ ...ref, token: 'guessed' }, result)).toEqual(SUPERSEDED);
    expect(await reporting.done('thief' as never, { ...ref, result, chunks: 0, traceparent: null })).toEqual(
      SUPERSEDED,
    );
    cancel(ref);
    expect(await done(ref, result)).toEqual(SUPERSEDED);
    expect(scene.job(ref)?.state).toBe('CANCELLED');
  });

  test('a long error, of which both ends are kept', async () => {
    const ref = scene.take();
    await done(ref, { kind: 'failed', error: `first ${'x'.repeat(40_000)} last`, output: null });
    const error = scene.job(ref)?.error ?? '';
    expect(error).toMatch(/^first x+…x+ last$/);
    expect(Buffer.byteLength(error)).toBeLessThanOrEqual(4_096);
  });
});

describe('a host gives a job up', () => {
  test('that its worker never began, and it is queued again at once, uncharged', async () => {
    const ref = scene.take();
    expect(await done(ref, { kind: 'lost', reason: 'drained', isCharged: false })).toEqual(RECORDED);
    const job = scene.job(ref);
    expect(job).toMatchObject({ state: 'IN_QUEUE', attempt: 2, charged: 0, notBeforeMs: scene.clock.nowMs() });
  });

  test('by its worker’s fault, and it waits; the third fault is its end', async () => {
    let ref = scene.take();
    const loss = { kind: 'lost', reason: 'exit code 1', isCharged: true, logTail: ['one', 'two'] } as const;
    for (let attempt = 1; attempt < 3; attempt += 1) {
      expect(await done(ref, loss)).toEqual(RECORDED);
      const { charged, notBeforeMs = 0 } = scene.job(ref) ?? {};
      expect([charged, notBeforeMs > scene.clock.nowMs()]).toEqual([attempt, true]);
      await scene.clock.advance(30_000);
      const wish = { takeId: `again-${attempt}`, hostId: HOST, workerId: 'w' as never, slots: 1, secret: 's' };
      scene.owners.perform(ENDPOINT, { kind: 'take', sentAtMs: scene.clock.nowMs(), wishes: [wish] });
      ref = { ...ref, attempt: ref.attempt + 1, token: scene.job(ref)?.current?.token ?? '' };
    }
    await done(ref, loss);
    expect(scene.job(ref)).toMatchObject({ state: 'FAILED', error: 'exit code 1 (attempt 3 of 3)', charged: 3 });
    expect(scene.job(ref)?.history[0]).toMatchObject({ reason: 'exit code 1', logTail: ['one', 'two'] });
  });
});

test('a host tells when the worker of a stopped attempt let go', async () => {
  const ref = scene.take();
  await scene.clock.advance(1_000);
  cancel(ref);
  await scene.clock.advance(800);
  const result = { kind: 'stopped', agoMs: 300, logTail: ['bye'] } as const;
  expect([await done(ref, result), await done(ref, { ...result, agoMs: 100 })]).toEqual([RECORDED, RECORDED]);
  const last = scene.job(ref)?.history.at(-1);
  expect(last).toMatchObject({ outcome: 'CANCELLED', stoppedAtMs: scene.clock.nowMs() - 300, logTail: ['bye'] });
});

describe('an output that a log has no room for', () => {
  const large = 'x'.repeat(OUTPUT_MAX_BYTES);

  test('and that came in one message is stored beside it first', async () => {
    const ref = scene.take();
    expect(await done(ref, { kind: 'completed', output: inline(large) })).toEqual(RECORDED);
    const output = outputOf(ref);
    if (output?.kind !== 'blob') throw new Error('no blob was reported');
    expect(output.manifest).toMatchObject({ name: 'out1', parts: 1, sizeBytes: large.length + 2 });
    expect(Buffer.from((await scene.blobs.read(ref, output.manifest)) ?? []).toString()).toBe(`"${large}"`);
    expect(scene.job(ref)).toMatchObject({ state: 'COMPLETED', outputBytes: large.length + 2 });
    expect(await done(ref, { kind: 'completed', output: inline(large) })).toEqual(RECORDED);
  });

  test('is counted in bytes, and just fits where it does', async () => {
    const [fits, not] = [scene.take(), scene.take()];
    const letters = 'é'.repeat((OUTPUT_MAX_BYTES - 2) / 2);
    await done(fits, { kind: 'completed', output: inline(letters) });
    await done(not, { kind: 'completed', output: inline(`${letters}x`) });
    expect([outputOf(fits)?.kind, outputOf(not)?.kind]).toEqual(['inline', 'blob']);
  });

  test('and is of an attempt that is over is not stored', async () => {
    const ref = scene.take();
    cancel(ref);
    expect(await done(ref, { kind: 'completed', output: inline(large) })).toEqual(SUPERSEDED);
    expect(await scene.blobs.readPart(ref, 'out1', 0)).toBeNull();
  });
});

describe('an output that was uploaded', () => {
  const BYTES = Buffer.alloc(BLOB_PART_BYTES + 10, '7');
  const manifest = {
    name: 'out1',
    parts: 2,
    sizeBytes: BYTES.byteLength,
    sha256: createHash('sha256').update(BYTES).digest('hex'),
  };

  test('whole is accepted', async () => {
    const ref = scene.take();
    await scene.blobs.write(ref, { name: 'out1', bytes: BYTES }, 60_000);
    const result = { kind: 'failed', error: 'late', output: { kind: 'blob', manifest } } as const;
    expect(await done(ref, result)).toEqual(RECORDED);
    expect([scene.job(ref)?.outputBytes, outputOf(ref)]).toEqual([BYTES.byteLength, { kind: 'blob', manifest }]);
  });

  test('in part fails its job, which says so: it will not become whole by being sent again', async () => {
    const ref = scene.take();
    await scene.blobs.writePart(ref, { name: 'out1', index: 0, bytes: BYTES.subarray(0, BLOB_PART_BYTES) }, 60_000);
    expect(await done(ref, { kind: 'completed', output: { kind: 'blob', manifest } })).toEqual(RECORDED);
    expect(scene.job(ref)).toMatchObject({
      ...{ state: 'FAILED', outputBytes: 0 },
      error: 'the output was damaged on its way: part 1 of 2 is missing',
    });
  });

  test('and has gone since is no fault once the end is recorded', async () => {
    const ref = scene.take();
    await scene.blobs.write(ref, { name: 'out1', bytes: BYTES }, 60_000);
    const result = { kind: 'completed', output: { kind: 'blob', manifest } } as const;
    await done(ref, result);
    await scene.blobs.remove(ref, 'out1');
    expect(await done(ref, result)).toEqual(RECORDED);
    expect(scene.job(ref)?.state).toBe('COMPLETED');
  });
});
