import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { PrintedBatch } from '../container-runtime.port.js';
import { EngineLog } from './engine-log.js';

interface Written {
  readonly stream: 1 | 2;
  readonly text: string;
  /** After the entry before it. */
  readonly nanos: number;
}

interface Frame {
  readonly since: string;
  readonly bytes: Buffer;
}

const START_S = 1_780_000_000;

/** The frames that an engine answers with for all of these. */
function framesOf(written: readonly Written[]): readonly Frame[] {
  let nanos = 0;
  return written.map(({ stream, text, nanos: more }) => {
    nanos += more;
    const fraction = String(nanos).padStart(9, '0');
    const at = new Date(START_S * 1_000).toISOString().replace('.000Z', `.${fraction}Z`);
    const body = Buffer.from(`${at} ${text}`);
    const header = Buffer.alloc(8);
    header[0] = stream;
    header.writeUInt32BE(body.length, 4);
    return { since: `${String(START_S)}.${fraction}`, bytes: Buffer.concat([header, body]) };
  });
}

/** As the engine answers: from the instant on, inclusive. */
const answer = (frames: readonly Frame[], since: string | null): Buffer =>
  Buffer.concat(frames.filter((frame) => since === null || frame.since >= since).map(({ bytes }) => bytes));

function* cut(bytes: Buffer, sizes: readonly number[]): Generator<Buffer> {
  let at = 0;
  for (let turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/** Reads on from a position, and breaks off after so many batches. */
function read(
  frames: readonly Frame[],
  { position, sizes, batchesMax }: { position: string | null; sizes: readonly number[]; batchesMax: number },
): readonly PrintedBatch[] {
  const log = new EngineLog(position, 'c1');
  const batches: PrintedBatch[] = [];
  for (const chunk of cut(answer(frames, log.since), sizes)) {
    const batch = log.take(chunk);
    if (batch !== null) batches.push(batch);
    if (batches.length >= batchesMax) return batches;
  }
  const rest = log.finish();
  return rest === null ? batches : [...batches, rest];
}

const textsOf = (batches: readonly PrintedBatch[]): readonly string[] =>
  batches.flatMap(({ lines }) => lines.map(({ text }) => text));

describe("an engine's log", () => {
  const written = fc.array(
    fc.record({
      stream: fc.constantFrom(1 as const, 2 as const),
      text: fc.tuple(fc.string({ maxLength: 8 }), fc.boolean()).map(([text, ends]) => {
        return `${text.replaceAll('\n', ' ')}${ends ? '\n' : ''}`;
      }),
      nanos: fc.integer({ min: 0, max: 2 }),
    }),
    { maxLength: 30 },
  );
  const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 });

  test('is told without a loss and without a double, wherever its reader breaks off and goes on', () => {
    fc.assert(
      fc.property(written, sizes, fc.integer({ min: 1, max: 4 }), (entries, cuts, batchesMax) => {
        const frames = framesOf(entries);
        const whole = textsOf(read(frames, { position: null, sizes: cuts, batchesMax: Infinity }));
        const told: string[] = [];
        let position: string | null = null;
        for (;;) {
          const batches = read(frames, { position, sizes: cuts, batchesMax });
          if (batches.length === 0) break;
          told.push(...textsOf(batches));
          expect(batches.some(({ isGap }) => isGap)).toBe(false);
          position = batches.at(-1)?.position ?? position;
        }
        expect(told).toEqual(whole);
      }),
    );
  });

  test('that was rotated away beyond the position is told as a gap, once', () => {
    const line = (text: string): Written => ({ stream: 1, text: `${text}\n`, nanos: 1 });
    const frames = framesOf(['a', 'b', 'c', 'd'].map(line));
    const [first] = read(frames, { position: null, sizes: [frames[0]?.bytes.length ?? 0], batchesMax: 1 });
    const rotated = frames.slice(2);
    const batches = read(rotated, { position: first?.position ?? null, sizes: [1], batchesMax: Infinity });
    expect(batches.map(({ isGap, lines }) => [isGap, lines[0]?.text])).toEqual([
      [true, 'c'],
      [false, 'd'],
    ]);
  });

  test('that the engine tells again from an earlier line on is told once, with a gap where it goes on', () => {
    const line = (text: string): Written => ({ stream: 1, text: `${text}\n`, nanos: 1 });
    const [a, b, c, , e] = framesOf(['a', 'b', 'c', 'd', 'e'].map(line)).map(({ bytes }) => bytes);
    const log = new EngineLog(null, 'c1');
    const batches = [a, b, c, b, c, e].flatMap((bytes) => log.take(bytes ?? Buffer.alloc(0)) ?? []);
    expect(batches.map(({ isGap, lines }) => [isGap, lines[0]?.text])).toEqual([
      [false, 'a'],
      [false, 'b'],
      [false, 'c'],
      [true, 'e'],
    ]);
  });

  test('may have the two streams out of step', () => {
    const [first, second] = framesOf([
      { stream: 1, text: 'out\n', nanos: 1 },
      { stream: 2, text: 'err\n', nanos: 1 },
    ]);
    const log = new EngineLog(null, 'c1');
    const batches = [second, first].flatMap((frame) => log.take(frame?.bytes ?? Buffer.alloc(0)) ?? []);
    expect(batches.map(({ isGap, lines }) => [isGap, lines[0]?.text])).toEqual([
      [false, 'err'],
      [false, 'out'],
    ]);
  });

  test('of another container begins at the beginning, and tells when each line was printed', () => {
    const frames = framesOf([{ stream: 1, text: 'hello\n', nanos: 1_500_000 }]);
    const [batch] = read(frames, { position: 'c0 1780000000.999999999 1', sizes: [1_000], batchesMax: 1 });
    expect(batch?.lines).toEqual([{ atMs: START_S * 1_000 + 1, text: 'hello' }]);
  });
});
