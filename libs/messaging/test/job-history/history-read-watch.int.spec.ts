import { HISTORY_READ_SUBJECT, type ShardRead } from '@berth/contracts';
import type { UnreadableMessage } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Broker } from '../../src/broker/broker.js';
import { readStreamHead } from '../../src/broker/stream-head.js';
import { HistoryReadWatch } from '../../src/job-history/history-read-watch.js';
import { logStream } from '../../src/topology/subjects.js';
import { ensure, openBroker } from '../open-broker.js';

const DEADLINE = { deadlineMs: 90_000 };
const nats = useNatsServer();
let broker: Broker;
let controllers: Broker;
let watch: HistoryReadWatch;
let noted: UnreadableMessage[];

beforeEach(async () => {
  noted = [];
  controllers = await openBroker(nats);
  await ensure(controllers, 'jobs');
  const { connection } = await openBroker(nats, { timeoutMs: 2_000 });
  broker = await Broker.over({ connection, onUnreadable: (message) => noted.push(message) });
  watch = new HistoryReadWatch({ broker, clock: systemClock, onError: () => undefined });
  watch.start();
});
afterEach(async () => {
  await watch.stop();
  await broker.connection.close();
  await controllers.connection.close();
});

async function createdOf(shard: number): Promise<string> {
  const head = await readStreamHead(controllers, logStream(shard));
  if (head === null) throw new Error('there is a stream');
  return head.created;
}

const tell = (...shards: readonly ShardRead[]): void => {
  controllers.connection.publish(HISTORY_READ_SUBJECT, JSON.stringify({ shards }));
};

test('a router knows how far the history has read each shard, and nothing of a shard that was not told', async () => {
  const first = { shard: 0, streamCreated: await createdOf(0), sequence: 7 };
  const last = { shard: 15, streamCreated: await createdOf(15), sequence: 9 };
  expect(watch.readThrough(0)).toBe(0);
  await eventually(() => {
    tell(first, last);
    expect([0, 1, 15, 16].map((shard) => watch.readThrough(shard))).toEqual([7, 0, 9, 0]);
  }, DEADLINE);
});

test('what was told last counts, also where it is less', async () => {
  const streamCreated = await createdOf(2);
  for (const sequence of [7, 3]) {
    await eventually(() => {
      tell({ shard: 2, streamCreated, sequence });
      expect(watch.readThrough(2)).toBe(sequence);
    }, DEADLINE);
  }
});

test('what was read of another stream under the same name is not what this router has', async () => {
  const before = { shard: 4, streamCreated: await createdOf(4), sequence: 7 };
  const other = { shard: 5, streamCreated: await createdOf(5), sequence: 8 };
  await eventually(() => {
    tell(before, other);
    expect(watch.readThrough(4)).toBe(7);
  }, DEADLINE);
  await controllers.manager.streams.delete(logStream(4));
  await ensure(controllers, 'jobs');
  await eventually(() => {
    tell(before, other);
    expect(watch.readThrough(4)).toBe(0);
    expect(watch.readThrough(5)).toBe(8);
  }, DEADLINE);
  const streamCreated = await createdOf(4);
  await eventually(() => {
    tell({ ...before, streamCreated, sequence: 1 });
    expect(watch.readThrough(4)).toBe(1);
  }, DEADLINE);
});

test('while the broker is away nothing is known of its streams, and afterwards all is known again', async () => {
  const told = { shard: 6, streamCreated: await createdOf(6), sequence: 7 };
  const knows = (): Promise<void> =>
    eventually(() => {
      tell(told);
      expect(watch.readThrough(6)).toBe(7);
    }, DEADLINE);
  await knows();
  await nats.server.kill();
  await eventually(() => expect(watch.readThrough(6)).toBe(0), DEADLINE);
  await nats.restart('kill');
  await knows();
});

test('what nobody can read is counted, and takes nothing away', async () => {
  const told = { shard: 8, streamCreated: await createdOf(8), sequence: 7 };
  await eventually(() => {
    tell(told);
    expect(watch.readThrough(8)).toBe(7);
  }, DEADLINE);
  controllers.connection.publish(HISTORY_READ_SUBJECT, '{"shards":5}');
  await eventually(() => expect(noted).toHaveLength(1), DEADLINE);
  expect(noted[0]).toMatchObject({ place: HISTORY_READ_SUBJECT, reason: '$.shards must be a list' });
  expect(watch.readThrough(8)).toBe(7);
});
