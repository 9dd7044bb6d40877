import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { paceAfter, quietAfterMs, type PassPace } from './pass-pace.js';

/** The quiet after each of these passes, which begin as soon as they may, and then after as much more quiet. */
function quiets(passes: readonly { readonly tookMs: number; readonly moreQuietMs?: number }[]): readonly number[] {
  let pace: PassPace | null = null;
  let nowMs = 1_000;
  return passes.map(({ moreQuietMs = 0, tookMs }) => {
    const startedAtMs = nowMs + moreQuietMs;
    pace = paceAfter(pace, { startedAtMs, endedAtMs: startedAtMs + tookMs });
    nowMs = pace.endedAtMs + quietAfterMs(pace);
    return quietAfterMs(pace);
  });
}

describe('passes that are hurried', () => {
  test('follow each other at once after quiet, and then at their pace', () => {
    const short = { tookMs: 10 };
    expect(quiets([short, short, short, short, short])).toEqual([0, 0, 0, 50, 50]);
    expect(quiets([short, short, short, short, { tookMs: 10, moreQuietMs: 200 }, short])).toEqual([0, 0, 0, 50, 0, 0]);
  });

  test('are followed by as much quiet as they took, and half a second at most', () => {
    const quiet = quiets([{ tookMs: 300 }, { tookMs: 300 }, { tookMs: 5_000 }, { tookMs: 5_000 }]);
    expect(quiet).toEqual([150, 300, 500, 500]);
  });

  test('leave about as much quiet as they take, however they come', () => {
    const pass = fc.record({ tookMs: fc.nat(500), moreQuietMs: fc.nat(100) });
    fc.assert(
      fc.property(fc.array(pass, { minLength: 1 }), (passes) => {
        const busyMs = passes.reduce((sum, { tookMs }) => sum + tookMs, 0);
        const quietMs = quiets(passes).reduce((sum, each, at) => sum + each + (passes[at]?.moreQuietMs ?? 0), 0);
        expect(busyMs - quietMs).toBeLessThanOrEqual(150);
      }),
    );
  });
});
