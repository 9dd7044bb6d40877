import type { LogPosition } from '@berth/contracts';
import type { UnreadableMessage } from '@berth/domain';
import { useNatsServer } from '@berth/testing/servers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { NatsConnection } from '@nats-io/transport-node';
import { Broker } from '../../src/broker/broker.js';
import { ShardLogSource, type ShardLogPage } from '../../src/job-history/shard-log-source.js';
import { logStream, logSubject } from '../../src/topology/subjects.js';
import { ensure, openBroker } from '../open-broker.js';
import { cancelled, endpointOf, writeBatch, writeFacts, writeRaw } from './fact-writer.js';

const SHARD = 3;
const STREAM = logStream(SHARD);
const ONE = endpointOf(SHARD);
const OTHER = endpointOf(SHARD);
const nats = useNatsServer();
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
let broker: Broker;
let source: ShardLogSource;
let noted: UnreadableMessage[];

beforeEach(async () => {
  noted = [];
  const { connection } = await openBroker(nats);
  broker = await Broker.over({ connection, onUnreadable: (message) => noted.push(message) });
  await ensure(broker, 'jobs');
  source = new ShardLogSource(broker);
});
afterEach(async () => {
  await broker.manager.streams.delete(STREAM);
  await broker.connection.close();
});

async function read(after: LogPosition | null): Promise<ShardLogPage> {
  const page = await source.read(SHARD, after);
  if (page === null) throw new Error('there is a stream');
  return page;
}

const jobsOf = ({ batches }: ShardLogPage): readonly string[] =>
  batches.flatMap(({ facts }) => facts.map(({ jobId }) => jobId));

describe('the logs of a shard', () => {
  test('are told in the order of the shard, with the facts that the history is made of', async () => {
    const opened = { kind: 'opened', atMs: 1, term: 1, routerId: 'r1' } as const;
    await writeFacts(broker, ONE, [opened, cancelled('a'), cancelled('b')]);
    await writeFacts(broker, OTHER, [opened]);
    const last = await writeFacts(broker, ONE, [cancelled('c')]);
    const page = await read(null);
    expect(page.batches.map(({ endpointId }) => endpointId)).toEqual([ONE, OTHER, ONE]);
    expect(jobsOf(page)).toEqual(['a', 'b', 'c']);
    expect(page).toMatchObject({ through: { sequence: last }, missed: 0, startsOver: null, isComplete: true });
    await writeFacts(broker, OTHER, [cancelled('d')]);
    expect(jobsOf(await read(page.through))).toEqual(['d']);
  });

  test('are told in pages, none of which says that it is complete but the last', async () => {
    for (let at = 0; at < 600; at += 1) await writeFacts(broker, at % 2 === 0 ? ONE : OTHER, [cancelled(`j${at}`)]);
    const told: string[] = [];
    const complete: boolean[] = [];
    for (let place: LogPosition | null = null; complete.at(-1) !== true;) {
      const page = await read(place);
      told.push(...jobsOf(page));
      complete.push(page.isComplete);
      expect(page.isLast).toBe(page.isComplete);
      place = page.through;
    }
    expect(told).toEqual(Array.from({ length: 600 }, (_, at) => `j${at}`));
    expect(complete).toEqual([false, false, true]);
  });

  test('that have nothing new are at their end, and so are those that never had anything', async () => {
    const empty = await read(null);
    expect(empty).toMatchObject({ through: { sequence: 0 }, batches: [], missed: 0, isComplete: true });
    const last = await writeFacts(broker, ONE, [cancelled('a')]);
    const { through } = await read(empty.through);
    expect(through.sequence).toBe(last);
    expect(await read(through)).toMatchObject({ through, batches: [], missed: 0, isComplete: true });
  });

  test('that nobody has made are none', async () => {
    await broker.manager.streams.delete(STREAM);
    expect(await source.read(SHARD, null)).toBeNull();
    await ensure(broker, 'jobs');
  });
});

describe('batches that were purged before they were read', () => {
  test('are counted wherever they lay', async () => {
    for (const job of ['a', 'b', 'c', 'd', 'e']) await writeFacts(broker, job === 'c' ? OTHER : ONE, [cancelled(job)]);
    const { through } = await read(null);
    const read3 = { ...through, sequence: 1 };
    await broker.manager.streams.purge(STREAM, { filter: logSubject(ONE), seq: 5 });
    const page = await read(read3);
    expect(jobsOf(page)).toEqual(['c', 'e']);
    expect(page).toMatchObject({ missed: 2, through: { sequence: 5 }, isComplete: true });
  });

  test('are counted where nothing lies behind them', async () => {
    await writeFacts(broker, ONE, [cancelled('a')]);
    const { through } = await read(null);
    await writeFacts(broker, ONE, [cancelled('b')]);
    await writeFacts(broker, ONE, [cancelled('c')]);
    await broker.manager.streams.purge(STREAM);
    const page = await read(through);
    expect(page).toMatchObject({ missed: 2, batches: [], through: { sequence: 3 }, isComplete: true });
    expect(await read(page.through)).toMatchObject({ missed: 0 });
  });
});

describe('a stream that is not the one that was read', () => {
  test('is told from its beginning where it was made anew', async () => {
    await writeFacts(broker, ONE, [cancelled('a')]);
    await writeFacts(broker, ONE, [cancelled('b')]);
    const { through } = await read(null);
    await broker.manager.streams.delete(STREAM);
    await ensure(broker, 'jobs');
    await writeFacts(broker, ONE, [cancelled('c')]);
    const page = await read(through);
    expect(jobsOf(page)).toEqual(['c']);
    expect(page).toMatchObject({ startsOver: 'new-stream', missed: 0, through: { sequence: 1 } });
    expect(page.through.streamCreated).not.toBe(through.streamCreated);
  });

  test('is told from its end where it has lost what was read', async () => {
    await writeFacts(broker, ONE, [cancelled('a')]);
    const { through } = await read(null);
    const page = await read({ ...through, sequence: 9 });
    expect(page).toMatchObject({ startsOver: 'lost-tail', missed: 0, batches: [], through });
  });
});

describe('a batch that cannot be read', () => {
  test.each<[string, () => Promise<number>, string]>([
    ['is no JSON', () => writeBatch(broker, logSubject(ONE), utf8('no fact')), 'a line of it is no fact'],
    ['is no text', () => writeBatch(broker, logSubject(ONE), new Uint8Array([0xff])), 'a line of it is no fact'],
    ['has no instant', () => writeBatch(broker, logSubject(ONE), utf8('{"kind":"opened"}')), 'a line of it is no fact'],
    [
      'lacks what the history needs',
      () => writeBatch(broker, logSubject(ONE), utf8('{"kind":"cancelled","atMs":1,"jobId":"j"}')),
      'fact 0 (cancelled): $.summary must be an object',
    ],
    [
      'is of an endpoint of another shard',
      () => writeBatch(broker, `log.${SHARD}.${endpointOf(SHARD + 1)}`, utf8(JSON.stringify(cancelled('x')))),
      'its subject names no endpoint of the shard',
    ],
    [
      'is of another format',
      () => writeRaw(broker, logSubject(ONE), { body: '{}', headers: { 'Berth-Format': '9' } }),
      'it is of format 9, and this process reads 1',
    ],
    ['is of nobody', () => writeRaw(broker, `log.${SHARD}.$odd`, { body: '{}', headers: {} }), 'it is no batch'],
  ])('because it %s is told as such and hides nothing', async (_, write, reason) => {
    await writeFacts(broker, ONE, [cancelled('a')]);
    const sequence = await write();
    await writeFacts(broker, OTHER, [cancelled('b')]);
    const page = await read(null);
    expect(jobsOf(page)).toEqual(['a', 'b']);
    expect(page.unreadable).toEqual([{ sequence, unreadable: reason }]);
    expect(page).toMatchObject({ missed: 0, isComplete: true });
    expect(noted).toEqual([{ place: 'endpoint log', key: expect.stringContaining(` ${sequence}`), reason }]);
  });
});

test('a replica that does not have yet what the leader has is at its end, and misses nothing', async () => {
  const late = await Broker.over({ connection: asOfReplicaWithout(2) });
  const behind = new ShardLogSource(late);
  await writeFacts(broker, ONE, [cancelled('a')]);
  const { through } = await read(null);
  await writeFacts(broker, ONE, [cancelled('b')]);
  expect(await behind.read(SHARD, through)).toMatchObject({
    ...{ through, batches: [], missed: 0, startsOver: null },
    ...{ isLast: true, isComplete: false },
  });
  expect(jobsOf(await read(through))).toEqual(['b']);
});

/** Direct gets are answered as by a replica that does not have that message, nor any behind it. */
function asOfReplicaWithout(sequence: number): NatsConnection {
  const { connection } = broker;
  const publish: NatsConnection['publish'] = (subject, payload, options) => {
    const isPage = subject.startsWith('$JS.API.DIRECT.GET.') && String(payload).includes(`"seq":${sequence}`);
    connection.publish(subject, isPage ? '{"seq":1000000,"batch":2}' : payload, options);
  };
  return Object.create(connection, { publish: { value: publish } }) as NatsConnection;
}

test('a broker that does not answer is said to be unavailable', async () => {
  await nats.server.kill();
  await expect(read(null)).rejects.toMatchObject({ code: 'service-unavailable' });
  await nats.restart('kill');
  await broker.standing();
});
