import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ReceiveWindow, SendCredit, STREAM_WINDOW_BYTES } from './credit.js';
import { FrameError } from './frame-error.js';

const step = fc.record({ send: fc.nat(2 * STREAM_WINDOW_BYTES), read: fc.nat(2 * STREAM_WINDOW_BYTES) });

describe('the window of a stream', () => {
  test('holds for whoever keeps to it, and never shuts where all is read', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const [credit, window] = [new SendCredit(), new ReceiveWindow()];
        let waiting = 0;
        const read = (bytes: number): void => {
          waiting -= Math.min(waiting, bytes);
          const given = window.give(waiting);
          if (given > 0) credit.add(given);
        };
        for (const each of steps) {
          const sent = Math.min(each.send, credit.bytes);
          credit.spend(sent);
          window.take(sent);
          waiting += sent;
          read(each.read);
          expect(waiting + credit.bytes).toBeLessThanOrEqual(STREAM_WINDOW_BYTES);
        }
        read(waiting);
        expect(credit.bytes).toBeGreaterThan(STREAM_WINDOW_BYTES / 2);
      }),
    );
  });

  test('is not for more than it has', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: STREAM_WINDOW_BYTES }), fc.integer({ min: 1 }), (first, beyond) => {
        const window = new ReceiveWindow();
        window.take(first);
        expect(() => window.take(STREAM_WINDOW_BYTES - first + beyond)).toThrow(FrameError);
      }),
    );
  });

  test.each([0, 1])('is not made larger than it was, or by nothing: %i', (bytes) => {
    expect(() => new SendCredit().add(bytes)).toThrow(FrameError);
  });
});
