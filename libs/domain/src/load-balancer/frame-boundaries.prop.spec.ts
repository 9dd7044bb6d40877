import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FrameBoundaries, SERVICE_RESTART_FRAME } from './frame-boundaries.js';

interface Frame {
  readonly opcode: number;
  readonly length: number;
  readonly isMasked: boolean;
}

const frame: fc.Arbitrary<Frame> = fc.record({
  opcode: fc.constantFrom(0x0, 0x1, 0x2, 0x9, 0xa),
  length: fc.oneof(fc.nat(125), fc.integer({ min: 126, max: 300 }), fc.constantFrom(65_535, 65_536, 70_000)),
  isMasked: fc.boolean(),
});

function bytesOf({ isMasked, length, opcode }: Frame): Uint8Array {
  const mask = isMasked ? 0x80 : 0;
  const long = (count: number): number[] =>
    Array.from({ length: count }, (_, at) => Math.floor(length / 256 ** (count - 1 - at)) % 256);
  const size = length < 126 ? [mask | length] : length < 65_536 ? [mask | 126, ...long(2)] : [mask | 127, ...long(8)];
  return Uint8Array.from([
    0x80 | opcode,
    ...size,
    ...new Array<number>(isMasked ? 4 : 0).fill(1),
    ...new Array<number>(length).fill(0x88),
  ]);
}

test('it is between two frames exactly where one has ended, however the bytes are cut', () => {
  fc.assert(
    fc.property(
      fc.array(frame, { maxLength: 5 }),
      fc.array(fc.integer({ min: 1, max: 9_000 }), { minLength: 1 }),
      (frames, cuts) => {
        const all = frames.map(bytesOf);
        const bytes = Uint8Array.from(all.flatMap((each) => [...each]));
        const ends = new Set([0]);
        all.reduce((at, each) => {
          ends.add(at + each.length);
          return at + each.length;
        }, 0);
        const boundaries = new FrameBoundaries();
        for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
          const until = Math.min(bytes.length, at + (cuts[turn % cuts.length] ?? 1));
          boundaries.pass(bytes.subarray(at, until));
          at = until;
          expect(boundaries.isBetween).toBe(ends.has(at));
        }
        expect(boundaries.hasClosed).toBe(false);
      },
    ),
    { numRuns: 50 },
  );
});

test('our own frame is a whole one that closes', () => {
  const boundaries = new FrameBoundaries();
  boundaries.pass(SERVICE_RESTART_FRAME);
  expect([boundaries.isBetween, boundaries.hasClosed]).toEqual([true, true]);
});
