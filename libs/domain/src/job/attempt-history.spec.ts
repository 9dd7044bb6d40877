import { describe, expect, test } from '@jest/globals';
import type { HostId, WorkerId } from '../ids.js';
import { LOG_TAIL_CHARACTERS_MAX, LOG_TAIL_LINES_MAX, withAttempt, withStop } from './attempt-history.js';
import type { AttemptRecord } from './attempt.js';

const PLACE = { hostId: 'h1' as HostId, workerId: 'w1' as WorkerId, startedAtMs: 1_000 };

const over = (attempt: number, logTail: readonly string[] = []): AttemptRecord => ({
  ...{ attempt, ...PLACE, endedAtMs: 2_000, outcome: 'lost', reason: 'the host is gone' },
  ...{ stoppedAtMs: null, logTail },
});
const lines = (name: string, count = 1): string[] => Array.from({ length: count }, (_, n) => `${name}${n}`);
const end = (logTail?: readonly string[]) => ({ outcome: 'FAILED', reason: 'boom', logTail, nowMs: 3_000 }) as const;

describe('the history of attempts', () => {
  test('gets the attempt that is over', () => {
    const history = withAttempt({ attempt: 2, current: PLACE, history: [over(1)] }, end(['bye']));
    expect(history).toEqual([
      over(1),
      {
        ...{ attempt: 2, ...PLACE, endedAtMs: 3_000, outcome: 'FAILED', reason: 'boom' },
        ...{ stoppedAtMs: null, logTail: ['bye'] },
      },
    ]);
  });

  test('stays as it is where none was under way', () => {
    const history = [over(1)];
    expect(withAttempt({ attempt: 2, current: null, history }, end())).toBe(history);
    expect(withStop([], { stoppedAtMs: 1 })).toEqual([]);
  });

  test('keeps the newest of very many', () => {
    const history = Array.from({ length: 32 }, (_, n) => over(n + 1));
    const kept = withAttempt({ attempt: 33, current: PLACE, history }, end());
    expect([kept.length, kept[0]?.attempt, kept.at(-1)?.attempt]).toEqual([32, 2, 33]);
  });

  test('gets when the worker of its last attempt let go, and what it wrote last', () => {
    const history = withStop([over(1), over(2, ['before'])], { stoppedAtMs: 2_500, logTail: ['stopping'] });
    expect(history).toEqual([over(1), { ...over(2, ['stopping']), stoppedAtMs: 2_500 }]);
  });
});

describe('the last lines of a worker', () => {
  const history = [over(1, lines('a')), over(2, lines('b')), over(3, lines('c'))];

  test('are cut to what is told of them', () => {
    const long = [...lines('a', 30), 'x'.repeat(2 * LOG_TAIL_CHARACTERS_MAX)];
    for (const kept of [
      withAttempt({ attempt: 1, current: PLACE, history: [] }, end(long)),
      withStop([over(1)], { stoppedAtMs: 2_500, logTail: long }),
    ]) {
      const tail = kept.at(-1)?.logTail ?? [];
      expect(tail).toHaveLength(LOG_TAIL_LINES_MAX);
      expect([tail[0], tail.at(-1)]).toEqual(['a11', 'x'.repeat(LOG_TAIL_CHARACTERS_MAX)]);
    }
  });

  test('stay with the newest three attempts', () => {
    const lost = withAttempt({ attempt: 4, current: PLACE, history }, end(lines('d')));
    expect(lost.map(({ logTail }) => logTail[0])).toEqual([undefined, 'b0', 'c0', 'd0']);
    const stopped = withStop([...history, over(4)], { stoppedAtMs: 2_500, logTail: lines('d') });
    expect(stopped.map(({ logTail }) => logTail[0])).toEqual([undefined, 'b0', 'c0', 'd0']);
  });
});
