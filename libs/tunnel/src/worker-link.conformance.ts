import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '@berth/testing';
import type { LinkTarget, WorkerLink } from './worker-link.port.js';

/** A link that leads to one worker, which takes every request. */
export interface LinkedWorker {
  readonly link: WorkerLink;
  readonly target: LinkTarget;
  /** Requests in flight as the worker's host counts them. */
  inFlight(): number;
}

/** @param port where the worker listens on this machine's loopback */
export type OpenLink = (port: number) => Promise<LinkedWorker>;

const SOON = { deadlineMs: 20_000, intervalMs: 10 };
const MANY = 200;
const LARGE_BYTES = 32 * 1_024 * 1_024;
/** What sockets, windows and buffers on the way may hold of one direction. */
const ON_THE_WAY_MAX_BYTES = 16 * 1_024 * 1_024;
const NEVER = new AbortController().signal;

/** What a router and its proxy rely on, of whatever leads to a worker. */
export function workerLinkConformance(name: string, open: OpenLink): void {
  describe(`${name} as a way to workers`, () => {
    const bench = useWorker(open);
    carrying(bench);
    ending(bench);
    pressing(bench);
    refusing(bench);
  });
}

interface Bench {
  /** The worker's end of each connection that it has taken, oldest first. */
  readonly connections: readonly Socket[];
  linked(): LinkedWorker;
  stopWorker(): Promise<void>;
  /** One request, with both of its ends. */
  begin(): Promise<{ readonly near: Duplex; readonly far: Socket }>;
}

function useWorker(open: OpenLink): Bench {
  const connections: Socket[] = [];
  let server: Server;
  let worker: LinkedWorker;
  beforeEach(async () => {
    connections.length = 0;
    server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
      socket.on('error', () => undefined);
      connections.push(socket);
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    worker = await open((server.address() as AddressInfo).port);
  });
  const stopWorker = async (): Promise<void> => {
    for (const socket of connections) socket.destroy();
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    await closed;
  };
  afterEach(stopWorker);
  return {
    connections,
    linked: () => worker,
    stopWorker,
    begin: async () => {
      const seen = connections.length;
      const answer = await worker.link.open(worker.target, NEVER);
      if (answer.kind === 'refused') throw new Error(`refused: ${answer.reason}`);
      answer.stream.on('error', () => undefined);
      await eventually(() => {
        expect(connections.length).toBeGreaterThan(seen);
      }, SOON);
      return { near: answer.stream, far: connections[seen] as Socket };
    },
  };
}

const allGone = (bench: Bench): Promise<void> =>
  eventually(() => {
    expect(bench.linked().inFlight()).toBe(0);
  }, SOON);

function carrying(bench: Bench): void {
  test('bytes arrive as they were, both ways', async () => {
    const { far, near } = await bench.begin();
    const [asked, answered] = [randomBytes(1_000_000), randomBytes(1_500_000)];
    near.end(asked);
    expect(Buffer.compare(await buffer(far), asked)).toBe(0);
    far.end(answered);
    expect(Buffer.compare(await buffer(near), answered)).toBe(0);
    await allGone(bench);
  });

  test.each(['', 'nothing, '])('text that is written together with nothing arrives as it was: %j', async (between) => {
    const { far, near } = await bench.begin();
    near.cork();
    const words = ['one, ', between, 'two, ', between, ''];
    for (const word of words) near.write(word, 'latin1');
    near.uncork();
    near.end();
    expect(String(await buffer(far))).toBe(words.join(''));
    far.end();
    near.resume();
    await allGone(bench);
  });

  test('what one says reaches the other before it ends', async () => {
    const { far, near } = await bench.begin();
    for (const word of ['one', 'two']) {
      far.write(word);
      const [heard] = (await once(near, 'data')) as [Buffer];
      expect(String(heard)).toBe(word);
      near.write(word.toUpperCase());
      far.resume();
      const [answer] = (await once(far, 'data')) as [Buffer];
      expect(String(answer)).toBe(word.toUpperCase());
    }
    near.destroy();
    await allGone(bench);
  });

  test('many at a time are not mixed up', async () => {
    const { link, target } = bench.linked();
    const answers = await Promise.all(Array.from({ length: MANY }, () => link.open(target, NEVER)));
    await eventually(() => {
      expect(bench.connections).toHaveLength(MANY);
    }, SOON);
    // Each says its own word back, whichever it got.
    for (const far of bench.connections) far.pipe(far);
    const heard = await Promise.all(
      answers.map(async (answer, at) => {
        if (answer.kind === 'refused') return answer.reason;
        answer.stream.end(`word ${String(at)}`);
        return String(await buffer(answer.stream));
      }),
    );
    expect(heard).toEqual(answers.map((_, at) => `word ${String(at)}`));
    await allGone(bench);
  });
}

function ending(bench: Bench): void {
  test('one who has said all still hears', async () => {
    const { far, near } = await bench.begin();
    near.end('all');
    expect(String(await buffer(far))).toBe('all');
    far.end('answer');
    expect(String(await buffer(near))).toBe('answer');
  });

  test('a worker that has said all still hears', async () => {
    const { far, near } = await bench.begin();
    far.end('early');
    expect(String(await buffer(near))).toBe('early');
    near.end('late');
    expect(String(await buffer(far))).toBe('late');
    await allGone(bench);
  });

  test('a caller that breaks off closes the connection to the worker', async () => {
    const { far, near } = await bench.begin();
    far.resume();
    near.write('half');
    near.destroy();
    // A worker that has half of a request and nobody left to answer.
    await eventually(() => {
      expect(far.readableEnded || far.destroyed).toBe(true);
    }, SOON);
    await allGone(bench);
    far.destroy();
  });

  test('a worker that breaks off fails the stream: what it said is not taken for all', async () => {
    const { far, near } = await bench.begin();
    const seen: string[] = [];
    for (const event of ['end', 'error']) near.once(event, () => seen.push(event));
    near.resume();
    far.write('half of an answer');
    await once(near, 'data');
    far.resetAndDestroy();
    await eventually(() => {
      expect(near.destroyed).toBe(true);
      expect(seen).toEqual(['error']);
    }, SOON);
    await allGone(bench);
  });
}

function pressing(bench: Bench): void {
  test('a worker that does not read holds up its caller', async () => {
    const { far, near } = await bench.begin();
    let taken = 0;
    const piece = Buffer.alloc(64 * 1_024);
    const write = (): void => {
      while (taken < LARGE_BYTES) {
        taken += piece.length;
        if (!near.write(piece)) return;
      }
    };
    near.on('drain', write);
    write();
    await settled(() => taken);
    expect(taken).toBeLessThan(ON_THE_WAY_MAX_BYTES);
    far.resume();
    await eventually(() => {
      expect(taken).toBeGreaterThanOrEqual(LARGE_BYTES);
    }, SOON);
    near.destroy();
  });

  test('a caller that does not read holds up its worker', async () => {
    const { far, near } = await bench.begin();
    far.end(Buffer.alloc(LARGE_BYTES));
    await settled(() => far.bytesWritten);
    expect(far.bytesWritten - far.writableLength).toBeLessThan(ON_THE_WAY_MAX_BYTES);
    near.end();
    expect((await buffer(near)).length).toBe(LARGE_BYTES);
  });
}

/** Until the figure stands still for some looks. */
async function settled(read: () => number): Promise<void> {
  let last = Number.NaN;
  let same = 0;
  await eventually(() => {
    same = read() === last ? same + 1 : 0;
    last = read();
    expect(same).toBeGreaterThan(20);
  }, SOON);
}

function refusing(bench: Bench): void {
  test('a worker that does not listen is unreachable', async () => {
    await bench.stopWorker();
    const { link, target } = bench.linked();
    expect(await link.open(target, NEVER)).toEqual({ kind: 'refused', reason: 'unreachable' });
    await allGone(bench);
  });

  test('whoever gave up before gets no place', async () => {
    const { link, target } = bench.linked();
    expect(await link.open(target, AbortSignal.abort())).toEqual({ kind: 'refused', reason: 'timed-out' });
    await allGone(bench);
  });
}
