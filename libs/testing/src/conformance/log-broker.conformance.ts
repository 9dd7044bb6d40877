import { BATCH_MAX_BYTES, type EndpointId } from '@berth/domain';
import {
  settleAppend,
  type LogBatch,
  type LogBroker,
  type LogEntry,
  type LogHead,
  type LogIndex,
  type StoredBatch,
} from '@berth/endpoint-log';
import { inParallel, systemClock, systemRandom } from '@berth/lifecycle';
import { describe, expect, test } from '@jest/globals';
import { eventually } from '../clock/eventually.js';

/** What the suite needs besides the port itself. */
export interface ConformingLog {
  readonly port: LogBroker;
  shardOf(endpointId: EndpointId): number;
  /** Puts a message that is no batch behind the endpoint's last one, as somebody else would, and tells where it lies. */
  putGarbage(endpointId: EndpointId): Promise<number>;
  /** Lets the endpoint's shard grow by so many bytes only; null: as it was. */
  leaveRoom(endpointId: EndpointId, bytes: number | null): Promise<void>;
}

type OpenLog = () => Promise<ConformingLog>;

const freshEndpoint = (): EndpointId => `ep-${systemRandom.id(12)}` as EndpointId;

const QUIET: LogIndex = {
  dueAtMs: null,
  waitingNormal: 0,
  waitingLow: 0,
  oldestQueuedAtMs: null,
  running: 0,
  runningLow: 0,
  living: 0,
};
const BUSY: LogIndex = {
  dueAtMs: 1_750_000_000_000,
  waitingNormal: 1,
  waitingLow: 2,
  oldestQueuedAtMs: 1_740_000_000_000,
  running: 3,
  runningLow: 4,
  living: 10,
};

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

const batchOf = (endpointId: EndpointId, after: number, more: Partial<LogBatch> = {}): LogBatch => ({
  endpointId,
  after,
  batchId: systemRandom.uuid(),
  index: QUIET,
  facts: bytesOf('{"kind":"opened"}'),
  ...more,
});

/** Every byte there is, some of which are no UTF-8. */
const anyBytes = (length: number): Uint8Array => Uint8Array.from({ length }, (_, at) => (at * 7 + (at >> 8)) & 0xff);

async function append(port: LogBroker, batch: LogBatch): Promise<StoredBatch> {
  const tools = { broker: port, clock: systemClock, random: systemRandom };
  const outcome = await settleAppend(tools, batch, { signal: new AbortController().signal });
  if (outcome.kind !== 'committed') throw new Error(`not stored: ${JSON.stringify(outcome)}`);
  const { endpointId: _, ...stored } = batch;
  return { ...stored, sequence: outcome.sequence };
}

async function appendMany(port: LogBroker, endpointId: EndpointId, counts: { count: number; bytes: number }) {
  const stored: StoredBatch[] = [];
  for (let nth = 0; nth < counts.count; nth += 1) {
    const after = stored.at(-1)?.sequence ?? 0;
    stored.push(await append(port, batchOf(endpointId, after, { facts: anyBytes(counts.bytes) })));
  }
  return stored;
}

async function all<Value>(values: AsyncIterable<Value>): Promise<Value[]> {
  const found: Value[] = [];
  for await (const value of values) found.push(value);
  return found;
}

/** Facts as plain bytes, wherever they came from. */
const plain = (entry: LogEntry | null): unknown =>
  entry !== null && 'facts' in entry ? { ...entry, facts: Buffer.from(entry.facts).toString('base64') } : entry;

const readAll = async (port: LogBroker, endpointId: EndpointId, after = 0): Promise<unknown[]> =>
  (await all(port.read(endpointId, after))).map(plain);

/** Asks again where nobody answered, as an owner does: a leader may be chosen anew at any time. */
const patient = (port: LogBroker): LogBroker => ({
  append: (batch) => port.append(batch),
  readNext: (...asked) => eventually(() => port.readNext(...asked)),
  purge: (...asked) => eventually(() => port.purge(...asked)),
  async *read(...asked) {
    yield* await eventually(() => all(port.read(...asked)));
  },
  async *heads(shard) {
    yield* await eventually(() => all(port.heads(shard)));
  },
});

/** What the owner of an endpoint relies on, of any broker of logs. */
export function logBrokerConformance(name: string, openLog: OpenLog): void {
  const open: OpenLog = async () => {
    const opened = await openLog();
    return { ...opened, port: patient(opened.port) };
  };
  describe(`${name} as the log of endpoints`, () => {
    appending(open);
    reading(open);
    purging(open);
    fullShards(open);
    garbage(open);
    heads(open);
  });
}

function appending(open: OpenLog): void {
  test('an append is stored only behind the batch that it expects', async () => {
    const { port } = await open();
    const endpointId = freshEndpoint();
    const first = await append(port, batchOf(endpointId, 0));
    const second = await append(port, batchOf(endpointId, first.sequence));
    expect(second.sequence).toBeGreaterThan(first.sequence);
    for (const stale of [0, first.sequence, second.sequence + 1, second.sequence + 1_000_000]) {
      expect(await port.append(batchOf(endpointId, stale))).toEqual({ kind: 'conflict' });
    }
    await append(port, batchOf(endpointId, second.sequence));
  });

  test('an endpoint without a batch takes none that expects one', async () => {
    const { port } = await open();
    expect(await port.append(batchOf(freshEndpoint(), 1))).toEqual({ kind: 'conflict' });
  });

  test('the same batch again is a conflict, and stored once', async () => {
    const { port } = await open();
    const endpointId = freshEndpoint();
    const batch = batchOf(endpointId, 0);
    const stored = await append(port, batch);
    expect(await port.append(batch)).toEqual({ kind: 'conflict' });
    expect(await port.readNext(endpointId, stored.sequence)).toBeNull();
  });

  test('of many that expect the same, one is stored', async () => {
    const { port } = await open();
    const endpointId = freshEndpoint();
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => port.append(batchOf(endpointId, 0))));
    expect(outcomes.filter(({ kind }) => kind === 'stored')).toHaveLength(1);
    expect(outcomes.filter(({ kind }) => kind === 'conflict')).toHaveLength(19);
  });

  test('neighbours of the same shard write without a conflict', async () => {
    const { port, shardOf } = await open();
    const endpoints = sameShard(shardOf, 4);
    const written = await Promise.all(endpoints.map((each) => appendMany(port, each, { count: 20, bytes: 50 })));
    for (const [at, endpointId] of endpoints.entries()) {
      await eventually(async () => expect(await readAll(port, endpointId)).toEqual(written[at]?.map(plain)));
    }
  });
}

function reading(open: OpenLog): void {
  test.each([
    ['nothing', 0, QUIET],
    ['any bytes', 10_000, BUSY],
    ['the most that a batch may hold', BATCH_MAX_BYTES, BUSY],
  ])('a batch of %s comes back as it was written', async (_, bytes, index) => {
    const { port } = await open();
    const endpointId = freshEndpoint();
    const stored = await append(port, batchOf(endpointId, 0, { index, facts: anyBytes(bytes) }));
    expect(plain(await port.readNext(endpointId, 0))).toEqual(plain(stored));
    await eventually(async () => expect(await readAll(port, endpointId)).toEqual([plain(stored)]));
  });

  test('the next entry is seen as soon as it is stored', async () => {
    const { port } = await open();
    const endpointId = freshEndpoint();
    let after = 0;
    for (let nth = 0; nth < 50; nth += 1) {
      expect(await port.readNext(endpointId, after)).toBeNull();
      const stored = await append(port, batchOf(endpointId, after));
      expect(plain(await port.readNext(endpointId, after))).toEqual(plain(stored));
      after = stored.sequence;
    }
    expect(await port.readNext(endpointId, 0)).not.toBeNull();
  });

  test('a log is read in order from any place, over the ends of pages', async () => {
    const { port } = await open();
    const endpointId = freshEndpoint();
    const small = await appendMany(port, endpointId, { count: 600, bytes: 10 });
    const last = small.at(-1)?.sequence ?? 0;
    const large: StoredBatch[] = [];
    for (let nth = 0; nth < 20; nth += 1) {
      const after = large.at(-1)?.sequence ?? last;
      large.push(await append(port, batchOf(endpointId, after, { facts: anyBytes(BATCH_MAX_BYTES) })));
    }
    const whole = [...small, ...large].map(plain);
    await eventually(async () => expect(await readAll(port, endpointId)).toEqual(whole));
    for (const at of [0, 1, 511, 512, 513, 610, 619]) {
      const after = [...small, ...large][at]?.sequence;
      expect(await readAll(port, endpointId, after)).toEqual(whole.slice(at + 1));
    }
  }, 60_000);

  test('an endpoint that never was has an empty log', async () => {
    const { port } = await open();
    expect(await readAll(port, freshEndpoint())).toEqual([]);
    expect(await readAll(port, freshEndpoint(), 1_000_000)).toEqual([]);
    expect(await port.readNext(freshEndpoint(), 0)).toBeNull();
  });
}

function purging(open: OpenLog): void {
  test('a purge takes what lies up to its place, again and again, and nothing else', async () => {
    const { port, shardOf } = await open();
    const [endpointId, neighbour] = sameShard(shardOf, 2) as [EndpointId, EndpointId];
    const kept = await appendMany(port, neighbour, { count: 2, bytes: 10 });
    const stored = await appendMany(port, endpointId, { count: 5, bytes: 10 });
    const later = await appendMany(port, freshEndpoint(), { count: 1, bytes: 10 });
    const through = stored[2]?.sequence ?? 0;
    for (let nth = 0; nth < 3; nth += 1) {
      await port.purge(endpointId, nth === 1 ? (stored[0]?.sequence ?? 0) : through);
      await eventually(async () => expect(await readAll(port, endpointId)).toEqual(stored.slice(3).map(plain)));
    }
    expect(plain(await port.readNext(endpointId, 0))).toEqual(plain(stored[3] ?? null));
    expect(await readAll(port, neighbour)).toEqual(kept.map(plain));
    expect(later).toHaveLength(1);
  });

  test('a purge of what is not there is none', async () => {
    const { port } = await open();
    const endpointId = freshEndpoint();
    await port.purge(endpointId, 1_000);
    const stored = await append(port, batchOf(endpointId, 0));
    await port.purge(endpointId, 0);
    expect(plain(await port.readNext(endpointId, 0))).toEqual(plain(stored));
  });

  test('behind a purge that kept the newest, an append that expects none is still a conflict', async () => {
    const { port } = await open();
    const endpointId = freshEndpoint();
    const stored = await appendMany(port, endpointId, { count: 3, bytes: 10 });
    await port.purge(endpointId, stored[1]?.sequence ?? 0);
    expect(await port.append(batchOf(endpointId, 0))).toEqual({ kind: 'conflict' });
    expect(await port.append(batchOf(endpointId, stored[1]?.sequence ?? 0))).toEqual({ kind: 'conflict' });
    await append(port, batchOf(endpointId, stored[2]?.sequence ?? 0));
  });
}

const ROOM_BYTES = 300_000;

function fullShards(open: OpenLog): void {
  test('a full shard says that it is full, is purged all the same, and takes batches again', async () => {
    const { leaveRoom, port } = await open();
    const endpointId = freshEndpoint();
    await leaveRoom(endpointId, ROOM_BYTES);
    try {
      const stored: StoredBatch[] = [];
      const next = (): LogBatch =>
        batchOf(endpointId, stored.at(-1)?.sequence ?? 0, { facts: anyBytes(ROOM_BYTES / 10) });
      let outcome = await port.append(next());
      for (let nth = 0; nth < 20 && outcome.kind === 'stored'; nth += 1) {
        stored.push({ ...next(), sequence: outcome.sequence });
        outcome = await port.append(next());
      }
      expect(outcome).toEqual({ kind: 'full' });
      expect(stored.length).toBeGreaterThan(5);
      expect(await port.append(next())).toEqual({ kind: 'full' });
      expect(await port.readNext(endpointId, stored.at(-1)?.sequence ?? 0)).toBeNull();
      await port.purge(endpointId, stored.at(-2)?.sequence ?? 0);
      await append(port, next());
    } finally {
      await leaveRoom(endpointId, null);
    }
  });
}

function garbage(open: OpenLog): void {
  test('what is no batch is told where it lies, and stops nothing else', async () => {
    const { port, putGarbage, shardOf } = await open();
    const [endpointId, neighbour] = sameShard(shardOf, 2) as [EndpointId, EndpointId];
    const first = await append(port, batchOf(endpointId, 0));
    const at = await putGarbage(endpointId);
    const unreadable = { sequence: at, unreadable: expect.stringMatching(/^[^\p{Cc}]{1,200}$/u) };
    expect(await port.append(batchOf(endpointId, first.sequence))).toEqual({ kind: 'conflict' });
    expect(await port.readNext(endpointId, first.sequence)).toEqual(unreadable);
    const last = await append(port, batchOf(endpointId, at));
    await eventually(async () =>
      expect(await readAll(port, endpointId)).toEqual([plain(first), unreadable, plain(last)]),
    );
    const beside = await append(port, batchOf(neighbour, 0));
    expect(plain(await port.readNext(neighbour, 0))).toEqual(plain(beside));
  });

  test('an endpoint whose newest message is no batch is among the heads without an index', async () => {
    const { port, putGarbage, shardOf } = await open();
    const endpointId = freshEndpoint();
    await append(port, batchOf(endpointId, 0));
    const sequence = await putGarbage(endpointId);
    await eventually(async () =>
      expect(await headOf(port, shardOf, endpointId)).toEqual({ endpointId, sequence, index: null }),
    );
  });
}

const ENDPOINTS_MANY = 3_000;
const WRITERS = 64;

function heads(open: OpenLog): void {
  test('the head of an endpoint is its newest batch, also after purges', async () => {
    const { port, shardOf } = await open();
    const endpointId = freshEndpoint();
    const [first, second] = await appendMany(port, endpointId, { count: 2, bytes: 10 });
    const last = await append(port, batchOf(endpointId, second?.sequence ?? 0, { index: BUSY }));
    const head: LogHead = { endpointId, sequence: last.sequence, index: BUSY };
    await eventually(async () => expect(await headOf(port, shardOf, endpointId)).toEqual(head));
    await port.purge(endpointId, first?.sequence ?? 0);
    expect(await headOf(port, shardOf, endpointId)).toEqual(head);
    // As a deleted endpoint is left: its last word alone.
    await port.purge(endpointId, second?.sequence ?? 0);
    await eventually(async () => expect(await readAll(port, endpointId)).toHaveLength(1));
    expect(await headOf(port, shardOf, endpointId)).toEqual(head);
  });

  test('each of thousands of endpoints is told once, and none of other shards', async () => {
    const { port, shardOf } = await open();
    const endpoints = sameShard(shardOf, ENDPOINTS_MANY);
    const shard = shardOf(endpoints[0] as EndpointId);
    await inParallel(endpoints, WRITERS, async (endpointId) => {
      const { sequence } = await append(port, batchOf(endpointId, 0));
      await append(port, batchOf(endpointId, sequence, { index: BUSY }));
    });
    await eventually(async () => {
      const found = await all(port.heads(shard));
      const names = found.map(({ endpointId }) => endpointId);
      expect(new Set(names).size).toBe(names.length);
      expect(names.filter((each) => shardOf(each) !== shard)).toEqual([]);
      const busy = new Set(found.filter(({ index }) => index?.living === BUSY.living).map((each) => each.endpointId));
      expect(endpoints.filter((each) => !busy.has(each))).toEqual([]);
    });
  }, 60_000);
}

async function headOf(port: LogBroker, shardOf: ConformingLog['shardOf'], endpointId: EndpointId) {
  return (await all(port.heads(shardOf(endpointId)))).find((head) => head.endpointId === endpointId);
}

/** Fresh endpoints that share a shard. */
function sameShard(shardOf: ConformingLog['shardOf'], count: number): EndpointId[] {
  const first = freshEndpoint();
  const found = [first];
  while (found.length < count) {
    const endpointId = freshEndpoint();
    if (shardOf(endpointId) === shardOf(first)) found.push(endpointId);
  }
  return found;
}
