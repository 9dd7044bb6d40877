import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BesideLog } from '../../test/endpoint-jobs/beside-log.js';
import type { OwnedLog } from '../../test/endpoint-jobs/owned-log.js';
import { playStory } from '../../test/endpoint-jobs/play-story.js';
import { Scene } from '../../test/endpoint-jobs/scene.js';
import { stories } from '../../test/endpoint-jobs/stories.js';
import { INLINE_INPUT_MAX_BYTES } from '../job/index.js';
import { encodeJson } from '../json/index.js';
import { OUTPUT_MAX_BYTES } from './bounds.js';

const WEEKS_MS = 30 * 24 * 3_600_000;

/** Every life ends, and everybody is told who is to be told. */
function outlive(log: OwnedLog): void {
  let nowMs = log.state.lastAtMs + WEEKS_MS;
  log.performCommand({ kind: 'look', fraction: 0.5 }, nowMs);
  for (const { data } of [...log.state.deliveries.values()]) {
    nowMs += 1_000;
    const { attempt, jobId } = data;
    const token = `told-${jobId}-${attempt}`;
    log.performCommand({ kind: 'begin-try', jobId, attempt, token }, nowMs);
    const success = { isSuccess: true, statusCode: 200, error: null };
    log.performCommand({ kind: 'end-try', jobId, attempt, token, ...success }, nowMs);
  }
}

test('whatever lies beside the log is said to be needed no more when it is not, sooner or later all of it', () => {
  fc.assert(
    fc.property(stories(60), (story) => {
      const beside = new BesideLog();
      const log = playStory(story, { onFact: (...noted) => beside.note(...noted) });
      outlive(log);
      expect([log.state.jobs.size, log.state.deliveries.size]).toEqual([0, 0]);
      expect(beside.things).toEqual([]);
    }),
    { numRuns: 400 },
  );
});

describe('a job that goes', () => {
  const leftBy = (scene: Scene): unknown => scene.touched.findLast(({ now }) => now === 'gone')?.leftovers;
  const outlived = (scene: Scene): unknown => {
    scene.pass(90_000_000);
    scene.look();
    return leftBy(scene);
  };

  test('leaves nothing where it was small, had one attempt and ended by its own word', () => {
    const scene = new Scene();
    scene.submit();
    scene.submit();
    scene.finish(scene.takeOne(), 'FAILED', 'it broke');
    expect(outlived(scene)).toBeNull();
    expect(scene.touched.map(({ leftovers }) => leftovers)).toEqual(scene.touched.map(() => null));
  });

  test.each<[string, (scene: Scene) => void]>([
    ['its input is large', (scene) => scene.submit({ bodyBytes: INLINE_INPUT_MAX_BYTES + 1 })],
    [
      'its output is large',
      (scene) => {
        scene.submit();
        finishWith(scene, { outputBytes: OUTPUT_MAX_BYTES + 1, chunks: 0 });
      },
    ],
    [
      'it streamed',
      (scene) => {
        scene.submit();
        finishWith(scene, { outputBytes: 0, chunks: 1 });
      },
    ],
    [
      'it had several attempts',
      (scene) => {
        scene.submit();
        scene.giveUp(scene.takeOne(), false);
      },
    ],
    [
      'it was stopped while it ran',
      (scene) => {
        const jobId = scene.submit();
        scene.take();
        scene.ask({ kind: 'cancel', jobId });
      },
    ],
  ])('may leave something where %s', (_, happen) => {
    const scene = new Scene();
    happen(scene);
    expect(outlived(scene)).toEqual({ of: 'job' });
  });

  test('while somebody is to be told of its end leaves everything until that is over', () => {
    const scene = new Scene();
    const jobId = scene.submit({ webhook: 'https://example.com', bodyBytes: INLINE_INPUT_MAX_BYTES + 1 });
    scene.finish(scene.takeOne(), 'COMPLETED');
    expect(outlived(scene)).toBeNull();
    expect(scene.stateOf(jobId)).toBe('gone');
    const token = 'd1';
    scene.ask({ kind: 'begin-try', jobId, attempt: 1, token });
    scene.ask({ kind: 'end-try', jobId, attempt: 1, token, isSuccess: true, statusCode: 200, error: null });
    expect(scene.touched.at(-1)).toEqual({ jobId, now: 'gone', stop: null, leftovers: { of: 'job' } });
  });
});

describe('an attempt that another one follows', () => {
  const large = { output: { kind: 'inline', json: encodeJson(1) }, outputBytes: OUTPUT_MAX_BYTES + 1 } as const;
  const failed = { kind: 'finish', state: 'FAILED', error: 'it broke', chunks: 2, logTail: [], ...large } as const;
  const leftovers = { of: 'attempt', attempt: 1, hasChunks: true, hasOutput: true };

  test('leaves what it streamed and stored', () => {
    const scene = new Scene();
    const jobId = scene.submit();
    scene.ask({ ...failed, ...scene.takeOne() });
    scene.retry(jobId);
    expect(scene.touched.at(-1)).toEqual({ jobId, now: 'moved', stop: null, leftovers });
    scene.giveUp(scene.takeOne(), false);
    expect(scene.touched.at(-1)).toMatchObject({ now: 'moved', leftovers: { ...leftovers, attempt: 2 } });
  });

  test('leaves the output of its end when whoever is told of that has been', () => {
    const scene = new Scene();
    const jobId = scene.submit({ webhook: 'https://example.com' });
    scene.ask({ ...failed, ...scene.takeOne() });
    scene.retry(jobId);
    expect(scene.touched.at(-1)).toMatchObject({ leftovers: { ...leftovers, hasOutput: false } });
    scene.ask({ kind: 'begin-try', jobId, attempt: 1, token: 'd1' });
    const success = { isSuccess: true, statusCode: 200, error: null };
    scene.ask({ kind: 'end-try', jobId, attempt: 1, token: 'd1', ...success });
    expect(scene.touched.at(-1)).toMatchObject({ jobId, now: 'moved', leftovers: { ...leftovers, hasChunks: false } });
  });
});

function finishWith(scene: Scene, shown: { readonly outputBytes: number; readonly chunks: number }): void {
  const output = { kind: 'inline', json: encodeJson(1) } as const;
  scene.ask({ kind: 'finish', ...scene.takeOne(), state: 'COMPLETED', error: null, output, logTail: [], ...shown });
}
