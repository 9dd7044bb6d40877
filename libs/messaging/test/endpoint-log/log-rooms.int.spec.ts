import { UNREAD_KEPT_MS } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { ManualClock, eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Broker } from '../../src/broker/broker.js';
import { LogRooms, type LogRoom } from '../../src/endpoint-log/log-rooms.js';
import { logShard } from '../../src/topology/shards.js';
import { logStream, logSubject } from '../../src/topology/subjects.js';
import { SIZE, ensure, openBroker } from '../open-broker.js';
import { endpointCalled } from './owner-scene.js';

const nats = useNatsServer();
const ROOM_BYTES = 1024 ** 2;
let broker: Broker;
let shards: readonly number[];
let failures: unknown[];

beforeAll(async () => {
  broker = await openBroker(nats);
  await ensure(broker, 'jobs', { ...SIZE, storageBytes: Math.ceil((16 * ROOM_BYTES) / 0.4) });
});
beforeEach(() => {
  [shards, failures] = [[], []];
});
afterAll(() => broker.connection.close());

const roomsAt = (clock: ManualClock, onSeen?: (shard: number, room: LogRoom) => void): LogRooms =>
  new LogRooms({
    ...{ broker, clock, shards: () => shards, onError: (error) => failures.push(error) },
    ...(onSeen === undefined ? {} : { onSeen }),
  });

/** Of a shard in which nothing else is. */
function newSubject(): { readonly shard: number; readonly subject: string } {
  const endpointId = endpointCalled('room');
  shards = [...shards, logShard(endpointId)];
  return { shard: logShard(endpointId), subject: logSubject(endpointId) };
}

const write = (subject: string, bytes: number): Promise<unknown> => broker.request(subject, 'x'.repeat(bytes));

async function storedAtMs(shard: number, sequence: number): Promise<number> {
  const message = await broker.manager.streams.getMessage(logStream(shard), { seq: sequence });
  if (message === null) throw new Error('it was purged');
  return message.time.getTime();
}

test('how full a stream is, and only of those that are looked at', async () => {
  const { shard, subject } = newSubject();
  const rooms = roomsAt(new ManualClock());
  await rooms.look();
  const before = rooms.of(shard)?.fill ?? 1;
  await write(subject, ROOM_BYTES / 2);
  await rooms.look();
  expect((rooms.of(shard)?.fill ?? 0) - before).toBeCloseTo(0.5, 2);
  shards = [];
  await rooms.look();
  expect(rooms.of(shard)).toBeUndefined();
  expect(failures).toEqual([]);
});

test('what is a day old, once a minute', async () => {
  const { shard, subject } = newSubject();
  await broker.manager.streams.purge(logStream(shard));
  await write(subject, 1);
  const { last_seq: old } = (await broker.manager.streams.info(logStream(shard))).state;
  const oldAtMs = await storedAtMs(shard, old);
  // The broker's clock is real: so much must lie between the two that a millisecond tells them apart.
  await eventually(() => expect(systemClock.nowMs() - oldAtMs).toBeGreaterThan(50));
  await write(subject, 1);
  const newAtMs = await storedAtMs(shard, old + 1);
  const clock = new ManualClock(oldAtMs + UNREAD_KEPT_MS - 10);
  const rooms = roomsAt(clock);
  const agedAfter = async (ms: number): Promise<number | undefined> => {
    await clock.advance(ms);
    await rooms.look();
    return rooms.of(shard)?.agedThrough;
  };
  expect(await agedAfter(0)).toBe(0);
  expect(await agedAfter(30)).toBe(0);
  const later = roomsAt(clock);
  await later.look();
  expect(later.of(shard)).toMatchObject({ agedThrough: old, lastSequence: old + 1 });
  expect(await agedAfter(newAtMs - oldAtMs + 60_000)).toBe(old + 1);
});

test('each look is told', async () => {
  const { shard, subject } = newSubject();
  const seen: (readonly [number, number])[] = [];
  const rooms = roomsAt(new ManualClock(), (at, { lastSequence }) => seen.push([at, lastSequence]));
  await rooms.look();
  const [[, first] = [0, 0]] = seen;
  expect(seen).toEqual([[shard, first]]);
  await write(subject, 1);
  await rooms.look();
  expect(seen.at(-1)).toEqual([shard, first + 1]);
});

test('a broker that is away takes nothing away that was known', async () => {
  const { shard } = newSubject();
  const away = await openBroker(nats, { timeoutMs: 500 });
  const rooms = new LogRooms({
    ...{ broker: away, clock: new ManualClock(), shards: () => shards, onError: (error) => failures.push(error) },
  });
  await rooms.look();
  const known = rooms.of(shard);
  await away.connection.close();
  await rooms.look();
  expect(rooms.of(shard)).toEqual(known);
  expect(failures).toHaveLength(1);
});
