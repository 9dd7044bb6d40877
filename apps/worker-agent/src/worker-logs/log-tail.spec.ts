import type { WorkerId } from '@berth/domain';
import { LOG_TAIL_CHARACTERS_MAX, LOG_TAIL_LINES_MAX } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ContainerRuntime, RuntimeError } from '../runtimes/index.js';
import { cleanLines, logTailOf } from './log-tail.js';

const tailOf = (logs: () => Promise<readonly string[]>): Promise<readonly string[]> =>
  logTailOf({ runtime: { logs } as unknown as ContainerRuntime, logger: silentLogger })('w1' as WorkerId);

describe('the last lines of a worker', () => {
  test('are the newest that are not blank', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => (index % 2 === 0 ? `line ${index}` : '  '));
    const tail = await tailOf(async () => lines);
    expect(tail).toHaveLength(20);
    expect(tail[0]).toBe('line 20');
    expect(tail.at(-1)).toBe('line 58');
  });

  test.each([
    ['colours', '\u001b[1;31mred\u001b[0m alert', 'red alert'],
    ['a progress bar', '10 %\r50 %\r100 %', '10 % 50 % 100 %'],
    ['tabs and bells', 'a\tb\u0007', 'a b'],
    ['zeros and C1 controls', 'a\0b\u0085c', 'a b c'],
    ['line separators', 'a\u2028b\u2029c', 'a b c'],
    ['half of a character', 'a\ud83d', 'a\ufffd'],
    ['any script', 'größe 數據 🙂', 'größe 數據 🙂'],
  ])('show %s as plain text', (_, line, shown) => {
    expect(cleanLines([line])).toEqual([shown]);
  });

  test('keep their bounds whatever was written', async () => {
    const line = fc.string({ unit: 'binary', maxLength: 700 });
    await fc.assert(
      fc.asyncProperty(fc.array(line, { maxLength: 80 }), async (lines) => {
        const tail = await tailOf(async () => lines);
        expect(tail.length).toBeLessThanOrEqual(LOG_TAIL_LINES_MAX);
        for (const each of tail) {
          expect(each.length).toBeLessThanOrEqual(LOG_TAIL_CHARACTERS_MAX);
          expect(each).not.toMatch(/[\p{Cc}]/u);
          expect(each.isWellFormed()).toBe(true);
        }
      }),
    );
  });

  test('are none where the log cannot be read', async () => {
    const tail = tailOf(() => Promise.reject(new RuntimeError('runtime-unavailable', 'The engine is gone.')));
    expect(await tail).toEqual([]);
  });
});
