import { once } from 'node:events';
import { Duplex, duplexPair } from 'node:stream';
import type { EndpointId, HostId, WorkerId } from '@berth/domain';
import { NO_TRACES } from '@berth/telemetry';
import { eventually, ManualClock } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { HostTunnel } from '../src/host-tunnel.js';
import { STREAM_WINDOW_BYTES } from '../src/mux/credit.js';
import { FrameReader } from '../src/mux/frame-reader.js';
import {
  encodeHead,
  encodeOpen,
  encodeRefuse,
  encodeTrace,
  encodeWindow,
  FRAME,
  type ControlFrame,
} from '../src/mux/frame.js';
import { ServedTunnel } from '../src/served-tunnel.js';
import { TunnelError } from '../src/tunnel-error.js';
import type { LinkAnswer, LinkStream, WorkerLink } from '../src/index.js';

const SOON = { deadlineMs: 90_000, intervalMs: 5 };
const NEVER = new AbortController().signal;
const TARGET = { hostId: 'host1' as HostId, endpointId: 'endpoint1' as EndpointId, workerId: 'worker1' as WorkerId };
const ASKED = { ...TARGET, mayWait: false };
const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const PIECE_BYTES = 16 * 1_024;

type Heard = ControlFrame | { readonly kind: 'data'; readonly id: number; readonly bytes: number };

/** The other side of a tunnel, which says what a test lets it say. */
interface Peer {
  readonly heard: readonly Heard[];
  say(...frames: readonly Buffer[]): void;
  hears(kind: Heard['kind'], id?: number): Promise<void>;
  stopReading(): void;
}

function peerOn(socket: Duplex): Peer {
  const heard: Heard[] = [];
  const reader = new FrameReader({
    data: (id, piece) => heard.push({ kind: 'data', id, bytes: piece.length }),
    control: (frame) => heard.push(frame),
  });
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    reader.read(chunk);
  });
  return {
    heard,
    say: (...frames) => void socket.write(Buffer.concat(frames)),
    hears: (kind, id) =>
      eventually(() => {
        expect(heard.some((each) => each.kind === kind && (id === undefined || ('id' in each && each.id === id)))).toBe(
          true,
        );
      }, SOON),
    stopReading: () => void socket.pause(),
  };
}

const data = (id: number, bytes: number): Buffer => {
  const head = encodeHead(FRAME.data, id);
  head.writeUIntBE(bytes, 1, 3);
  return Buffer.concat([head, Buffer.alloc(bytes)]);
};
const dataFor = (id: number, bytes: number): Buffer[] =>
  Array.from({ length: Math.ceil(bytes / PIECE_BYTES) }, (_, at) =>
    data(id, Math.min(PIECE_BYTES, bytes - at * PIECE_BYTES)),
  );

function router(knowsTraces = true) {
  const [near, far] = duplexPair();
  const causes: (string | null)[] = [];
  const tunnel = new HostTunnel({
    ...{ socket: near, clock: new ManualClock(), knowsTraces },
    onClosed: (cause) => causes.push(cause),
  });
  const peer = peerOn(far);
  let last = 0;
  const admit = async (): Promise<LinkStream> => {
    const asked = tunnel.open(TARGET, NEVER);
    last += 1;
    peer.say(encodeHead(FRAME.admit, last));
    const answer = await asked;
    if (answer.kind === 'refused') throw new Error(answer.reason);
    return answer.stream;
  };
  return { tunnel, peer, causes, admit };
}

function host(link: WorkerLink) {
  const [near, far] = duplexPair();
  const causes: (string | null)[] = [];
  const tunnel = new ServedTunnel({
    ...{ hostId: TARGET.hostId, link, clock: new ManualClock(), socket: near, traces: NO_TRACES },
    onClosed: ({ cause }) => causes.push(cause),
  });
  return { tunnel, peer: peerOn(far), causes };
}

/** Takes whatever it is given, and says nothing. */
const silentWorker = (): Duplex => new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
const admitting: WorkerLink = { open: () => Promise.resolve({ kind: 'admitted', stream: silentWorker() }) };
const refusing: WorkerLink = { open: () => Promise.resolve({ kind: 'refused', reason: 'full' }) };

describe('a host that breaks the rules of its tunnel', () => {
  test.each([
    ['sends to a stream that is none', [data(2, 1)], 'bytes for 2'],
    ['ends a stream that is none', [encodeHead(FRAME.end, 2)], 'the end of 2'],
    ['resets a stream that is none', [encodeHead(FRAME.reset, 2)], 'stream 2 before'],
    ['tells the trace of a stream that is none', [encodeTrace(2, TRACEPARENT)], 'stream 2 before'],
    ['sends more than its window', dataFor(1, STREAM_WINDOW_BYTES + 1), 'more bytes than the window'],
    ['sends after it has ended', [encodeHead(FRAME.end, 1), data(1, 1)], 'bytes after the end'],
    ['ends twice', [encodeHead(FRAME.end, 1), encodeHead(FRAME.end, 1)], 'a second end'],
    ['admits twice', [encodeHead(FRAME.admit, 1)], 'an admission of 1'],
    ['refuses what it admitted', [encodeRefuse(1, 'full')], 'a refusal of 1'],
    ['gives more than was sent', [encodeWindow(1, 1)], 'a window beyond'],
    ['asks', [encodeOpen(2, ASKED)], 'a question of a host'],
    ['says what nobody knows', [Buffer.alloc(8, 0xff)], 'a frame of type 255'],
  ])('loses it: it %s', async (_, frames, words) => {
    const { admit, causes, peer } = router();
    const stream = await admit();
    const failed = once(stream, 'error');
    peer.say(...frames);
    expect((await failed)[0]).toBeInstanceOf(TunnelError);
    await eventually(() => {
      expect(causes).toEqual([expect.stringContaining(words)]);
    }, SOON);
  });
});

describe('a router that breaks the rules of its tunnel', () => {
  test.each([
    ['opens out of turn', [encodeOpen(2, ASKED)], 'stream 2 after 0'],
    ['opens one twice', [encodeOpen(1, ASKED), encodeOpen(1, ASKED)], 'stream 1 after 1'],
    ['answers', [encodeOpen(1, ASKED), encodeHead(FRAME.admit, 1)], 'an answer of a router'],
    ['sends before it was admitted', [encodeOpen(1, ASKED), data(1, 1)], 'bytes for 1'],
  ])('loses it: it %s', async (_, frames, words) => {
    const { causes, peer } = host(admitting);
    peer.say(...frames);
    await eventually(() => {
      expect(causes).toEqual([expect.stringContaining(words)]);
    }, SOON);
  });

  test('loses it, and all that it asked is given up: it asks for more than a tunnel has', async () => {
    let [asked, givenUp] = [0, 0];
    const never: WorkerLink = {
      open: (_, signal) => {
        asked += 1;
        signal.addEventListener('abort', () => (givenUp += 1));
        return new Promise<LinkAnswer>(() => undefined);
      },
    };
    const { causes, peer } = host(never);
    peer.say(...Array.from({ length: 32_769 }, (_, at) => encodeOpen(at + 1, ASKED)));
    await eventually(() => {
      expect(causes).toEqual([expect.stringContaining('more streams')]);
    }, SOON);
    expect([asked, givenUp]).toEqual([32_768, 32_768]);
  });

  test('loses it: it asks and asks, and reads no answer', async () => {
    const { causes, peer } = host(refusing);
    peer.stopReading();
    let id = 0;
    await eventually(() => {
      peer.say(...Array.from({ length: 30_000 }, () => encodeOpen((id += 1), ASKED)));
      expect(causes).toEqual(['its peer reads no more']);
    }, SOON);
  });
});

describe('a stream that was reset', () => {
  test('drops what was on its way, within its window, until the other side has reset it too', async () => {
    const { admit, causes, peer } = router();
    const stream = await admit();
    stream.destroy();
    await peer.hears('reset', 1);
    peer.say(...dataFor(1, STREAM_WINDOW_BYTES), encodeHead(FRAME.reset, 1));
    const other = await admit();
    expect([other.destroyed, causes]).toEqual([false, []]);
    peer.say(data(1, 1));
    await eventually(() => {
      expect(causes).toEqual([expect.stringContaining('bytes for 1')]);
    }, SOON);
  });

  test('has no more room for it than it had before', async () => {
    const { admit, causes, peer } = router();
    const stream = await admit();
    peer.say(data(1, 5));
    await eventually(() => {
      expect(stream.readableLength).toBe(5);
    }, SOON);
    stream.destroy();
    peer.say(...dataFor(1, STREAM_WINDOW_BYTES - 4));
    await eventually(() => {
      expect(causes).toEqual([expect.stringContaining('more bytes than the window')]);
    }, SOON);
  });

  test('by the other side fails, and both forget it', async () => {
    const { admit, peer } = router();
    const stream = await admit();
    const failed = once(stream, 'error');
    peer.say(encodeHead(FRAME.reset, 1));
    expect((await failed)[0]).toBeInstanceOf(TunnelError);
    await peer.hears('reset', 1);
  });

  test('is not the end of what was said', async () => {
    const { admit, peer } = router();
    const stream = await admit();
    stream.write('half');
    stream.destroy();
    await peer.hears('reset', 1);
    expect(peer.heard.filter(({ kind }) => kind === 'end')).toEqual([]);
  });
});

describe('streams in one tunnel', () => {
  test('have their turns: little passes by much', async () => {
    const { admit, peer } = router();
    const [much, little] = [await admit(), await admit()];
    much.write(Buffer.alloc(STREAM_WINDOW_BYTES));
    little.write('a word');
    await peer.hears('data', 2);
    const isData = ({ kind }: Heard): boolean => kind === 'data';
    await eventually(() => {
      const sent = peer.heard.reduce((sum, each) => sum + (each.kind === 'data' && each.id === 1 ? each.bytes : 0), 0);
      expect(sent).toBe(STREAM_WINDOW_BYTES);
    }, SOON);
    // Ahead of all that the other one could have sent in one go.
    const order = peer.heard.filter(isData).map((each) => ('id' in each ? each.id : 0));
    expect(order.indexOf(2)).toBeLessThan(order.length / 2);
  });

  test('of which one is not read hold up none', async () => {
    const { admit, peer } = router();
    const [unread, read] = [await admit(), await admit()];
    peer.say(...dataFor(1, STREAM_WINDOW_BYTES), data(2, 7));
    expect(((await once(read, 'data')) as [Buffer])[0]).toHaveLength(7);
    expect(unread.readableLength).toBe(STREAM_WINDOW_BYTES);
    expect(peer.heard.filter(({ kind }) => kind === 'window')).toEqual([]);
    unread.resume();
    await peer.hears('window', 1);
  });
});

describe('a tunnel that is left', () => {
  test('by its host refuses what still comes, and is ended by its router after the last stream', async () => {
    const [near, far] = duplexPair();
    const causes: (string | null)[] = [];
    const onClosed = (cause: string | null): void => void causes.push(cause);
    const clock = new ManualClock();
    const tunnel = new HostTunnel({ socket: near, clock, knowsTraces: true, onClosed });
    const served = new ServedTunnel({
      hostId: TARGET.hostId,
      link: admitting,
      clock,
      socket: far,
      traces: NO_TRACES,
      onClosed: ({ cause }) => onClosed(cause),
    });
    const first = await tunnel.open(TARGET, NEVER);
    if (first.kind === 'refused') throw new Error(first.reason);
    served.leave();
    expect(await tunnel.open(TARGET, NEVER)).toEqual({ kind: 'refused', reason: 'leaving' });
    expect([tunnel.isOpen, first.stream.destroyed]).toEqual([false, false]);
    first.stream.destroy();
    await eventually(() => {
      expect(causes).toEqual([null, null]);
    }, SOON);
  });

  test('answers any number of pings that it could not answer with one', async () => {
    const { peer } = router();
    peer.say(...Array.from({ length: 1_000 }, () => encodeHead(FRAME.ping, 0)));
    await peer.hears('pong');
    expect(peer.heard.length).toBeLessThan(1_000);
  });
});
