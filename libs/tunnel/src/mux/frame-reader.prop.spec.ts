import { describe, expect, test } from '@jest/globals';
import type { EndpointId, WorkerId } from '@berth/domain';
import fc from 'fast-check';
import { LINK_REFUSALS } from '../worker-link.port.js';
import { FrameError } from './frame-error.js';
import { encodeHead, encodeOpen, encodeRefuse, encodeTrace, encodeWindow, FRAME, type ControlFrame } from './frame.js';
import { FrameReader } from './frame-reader.js';

interface Said {
  readonly bytes: Buffer;
  readonly means: ControlFrame | { readonly kind: 'data'; readonly id: number; readonly text: string };
}

const ids = fc.integer({ min: 1, max: 2 ** 32 - 1 });
const names = fc
  .string({ minLength: 1, maxLength: 60, unit: 'grapheme-composite' })
  .filter((name) => name.length <= 60);

const data = (id: number, text: string): Said => {
  const body = Buffer.from(text);
  const head = encodeHead(FRAME.data, id);
  head.writeUIntBE(body.length, 1, 3);
  return { bytes: Buffer.concat([head, body]), means: { kind: 'data', id, text } };
};

const frames: fc.Arbitrary<Said> = fc.oneof(
  fc.tuple(ids, fc.string({ minLength: 1, maxLength: 2_000 })).map(([id, text]) => data(id, text)),
  fc.tuple(ids, names, names, fc.boolean()).map(([id, endpoint, worker, mayWait]) => {
    const target = { endpointId: endpoint as EndpointId, workerId: worker as WorkerId, mayWait };
    return { bytes: encodeOpen(id, target), means: { kind: 'open' as const, id, target } };
  }),
  fc
    .tuple(ids, fc.constantFrom(...LINK_REFUSALS))
    .map(([id, reason]) => ({ bytes: encodeRefuse(id, reason), means: { kind: 'refuse' as const, id, reason } })),
  fc
    .tuple(ids, fc.nat(2 ** 31 - 1))
    .map(([id, bytes]) => ({ bytes: encodeWindow(id, bytes), means: { kind: 'window' as const, id, bytes } })),
  fc.tuple(ids, fc.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)).map(([id, traceparent]) => ({
    bytes: encodeTrace(id, traceparent),
    means: { kind: 'trace' as const, id, traceparent },
  })),
  fc
    .tuple(ids, fc.constantFrom('admit' as const, 'end' as const, 'reset' as const))
    .map(([id, kind]) => ({ bytes: encodeHead(FRAME[kind], id), means: { kind, id } })),
  fc
    .constantFrom('ping' as const, 'pong' as const, 'leave' as const)
    .map((kind) => ({ bytes: encodeHead(FRAME[kind], 0), means: { kind } })),
);

const cuts = fc.array(fc.nat(4_000), { maxLength: 40 });

function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const ends = [...at.filter((each) => each < bytes.length), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
}

type Heard = Said['means'] | { readonly kind: 'piece'; readonly id: number; readonly bytes: Buffer };

function hear(pieces: readonly Buffer[]): Heard[] {
  const heard: Heard[] = [];
  const reader = new FrameReader({
    data: (id, bytes) => heard.push({ kind: 'piece', id, bytes }),
    control: (frame) => heard.push(frame),
  });
  for (const piece of pieces) reader.read(piece);
  return heard;
}

/** Neighbours of one stream together: where a frame of DATA ends means nothing. */
function joined(heard: readonly Heard[]): unknown[] {
  const all: (ControlFrame | { readonly kind: 'data'; readonly id: number; bytes: Buffer })[] = [];
  for (const each of heard) {
    const last = all.at(-1);
    if (each.kind !== 'piece' && each.kind !== 'data') all.push(each);
    else {
      const bytes = each.kind === 'piece' ? each.bytes : Buffer.from(each.text);
      if (last?.kind === 'data' && last.id === each.id) last.bytes = Buffer.concat([last.bytes, bytes]);
      else all.push({ kind: 'data', id: each.id, bytes });
    }
  }
  return all;
}

describe('frames', () => {
  test('are the same wherever their bytes were cut', () => {
    fc.assert(
      fc.property(fc.array(frames, { maxLength: 12 }), cuts, (said, at) => {
        const bytes = Buffer.concat(said.map((each) => each.bytes));
        expect(joined(hear(cut(bytes, at)))).toEqual(joined(said.map(({ means }) => means)));
      }),
    );
  });

  test('of whatever bytes fail with their own error alone, and nothing more is heard than was said', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.uint8Array({ maxLength: 64 }),
            frames.map(({ bytes }) => bytes),
          ),
        ),
        cuts,
        (all, at) => {
          const bytes = Buffer.concat(all);
          let heard = 0;
          const reader = new FrameReader({ data: (_, piece) => (heard += piece.length), control: () => (heard += 8) });
          try {
            for (const piece of cut(bytes, at)) reader.read(piece);
          } catch (error) {
            expect(error).toBeInstanceOf(FrameError);
          }
          expect(heard).toBeLessThanOrEqual(bytes.length);
        },
      ),
    );
  });

  test('that say more than they may are refused by their heads, before anything of them is kept', () => {
    const types = fc.constantFrom(...Object.values(FRAME));
    fc.assert(
      fc.property(types, ids, fc.integer({ min: 32 * 1_024 + 1, max: 2 ** 24 - 1 }), (type, id, length) => {
        const head = encodeHead(type, id);
        head.writeUIntBE(length, 1, 3);
        expect(() => hear([head])).toThrow(FrameError);
      }),
    );
  });

  test.each([
    ['of no known type', [0, 0, 0, 0, 0, 0, 0, 1]],
    ['of DATA without a byte', [FRAME.data, 0, 0, 0, 0, 0, 0, 1]],
    ['of a stream for none', [FRAME.end, 0, 0, 0, 0, 0, 0, 0]],
    ['of the tunnel for a stream', [FRAME.ping, 0, 0, 0, 0, 0, 0, 1]],
    ['of OPEN with ids that are not all there', [FRAME.open, 0, 0, 5, 0, 0, 0, 1, 0, 2, 65, 65, 1]],
    ['of OPEN without an endpoint', [FRAME.open, 0, 0, 5, 0, 0, 0, 1, 0, 0, 2, 65, 65]],
    ['of OPEN with a wish that nobody knows', [FRAME.open, 0, 0, 5, 0, 0, 0, 1, 2, 1, 65, 1, 65]],
  ])('%s are refused', (_, bytes) => {
    expect(() => hear([Buffer.from(bytes)])).toThrow(FrameError);
  });

  test('of a refusal for a reason of another version count as no way', () => {
    const head = encodeHead(FRAME.admit, 7);
    head.writeUInt8(FRAME.refuse, 0);
    head.writeUIntBE(5, 1, 3);
    const sound = Buffer.concat([head, Buffer.from('tired')]);
    expect(hear([sound])).toEqual([{ kind: 'refuse', id: 7, reason: 'no-way' }]);
  });
});
