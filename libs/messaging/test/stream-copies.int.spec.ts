import type { EndpointId, JobId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { useNatsServer } from '@berth/testing/servers';
import { headers, NoRespondersError, type NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import {
  COPIED_LOGS,
  COPIED_PAYLOADS,
  copyLog,
  copyStream,
  jobStreamConfig,
  removeLatePayloads,
  restoreStream,
  type CopiedState,
} from '../src/stream-copies/index.js';
import { LOG_SHARDS, logShard } from '../src/topology/shards.js';
import { STREAMS, chunkSubject, logStream, logSubject } from '../src/topology/subjects.js';
import { SIZE, openBroker } from './open-broker.js';

const nats = useNatsServer();
const ENDPOINT = 'e1' as EndpointId;
const LOG = logStream(logShard(ENDPOINT));
const BYTES = 256 * 1024;

let broker: Broker;

beforeEach(async () => {
  broker = await openBroker(nats);
  for (const { config } of await broker.manager.streams.list().next()) await broker.manager.streams.delete(config.name);
  await broker.manager.streams.add(jobStreamConfig(LOG, SIZE));
});
afterEach(() => broker.connection.close());

const write = async (text: string): Promise<void> => {
  const named = headers();
  named.set('Berth-Batch', text);
  await broker.request(logSubject(ENDPOINT), text.padEnd(BYTES), named);
};

interface Taken {
  readonly state: CopiedState;
  readonly isWhole: boolean;
  readonly pieces: readonly Uint8Array[];
}

async function take(onPiece: () => Promise<unknown> = () => Promise.resolve()): Promise<Taken> {
  const pieces: Uint8Array[] = [];
  const copied = await copyLog({
    ...{ broker, clock: systemClock, stream: LOG },
    onPiece: async (piece) => {
      pieces.push(piece);
      await onPiece();
    },
  });
  if (copied === null) throw new Error('there is no such stream');
  const { isWhole, ...state } = copied;
  return { state, isWhole, pieces };
}

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

const put = ({ pieces, state }: Taken, given = each(pieces)): Promise<'restored' | 'in-use'> =>
  restoreStream({
    ...{ broker, clock: systemClock, random: systemRandom, config: jobStreamConfig(LOG, SIZE) },
    ...{ state, pieces: given },
  });

const messageAt = async (seq: number) => {
  const message = await broker.manager.streams.getMessage(LOG, { seq });
  return message === null
    ? null
    : { text: message.string().trim(), at: message.time.getTime(), batch: message.header.get('Berth-Batch') };
};

test('a log comes back under its sequences, with its times and headers', async () => {
  for (const text of ['first', 'second', 'third', 'fourth']) await write(text);
  await broker.manager.streams.deleteMessage(LOG, 2);
  const before = await Promise.all([1, 2, 3, 4].map(messageAt));
  const taken = await take();
  expect(taken).toMatchObject({ isWhole: true, state: { messages: 3, first_seq: 1, last_seq: 4 } });
  await broker.manager.streams.delete(LOG);
  expect(await put(taken)).toBe('restored');
  expect(await Promise.all([1, 2, 3, 4].map(messageAt))).toEqual(before);
  await write('fifth');
  expect(await messageAt(5)).toMatchObject({ text: 'fifth' });
});

test('a stream without messages goes on with its next sequence', async () => {
  await write('first');
  await broker.manager.streams.purge(LOG);
  const taken = await take();
  await broker.manager.streams.delete(LOG);
  expect(await put(taken)).toBe('restored');
  await write('second');
  expect(await messageAt(2)).toMatchObject({ text: 'second' });
});

test('what is written while it is copied is not in it', async () => {
  await write('first');
  const taken = await take(() => write('later'));
  expect(taken).toMatchObject({ isWhole: true, state: { messages: 1, last_seq: 1 } });
  await broker.manager.streams.delete(LOG);
  expect(await put(taken)).toBe('restored');
  expect(await messageAt(2)).toBeNull();
});

test('a copy from which something was removed meanwhile counts for nothing', async () => {
  for (const text of ['first', 'second', 'third']) await write(text);
  let isRemoved = false;
  const taken = await take(async () => {
    if (!isRemoved) await broker.manager.streams.purge(LOG, { seq: 3 });
    isRemoved = true;
  });
  expect(taken.isWhole).toBe(false);
  expect(await take()).toMatchObject({ isWhole: true, state: { messages: 1, first_seq: 3 } });
});

test('a copy is not put over a stream, and one that is cut short is none', async () => {
  for (const text of ['first', 'second', 'third', 'fourth']) await write(text);
  const taken = await take();
  expect(await put(taken)).toBe('in-use');
  expect(await messageAt(4)).toMatchObject({ text: 'fourth' });
  await broker.manager.streams.delete(LOG);
  const half = Buffer.concat(taken.pieces);
  await expect(put(taken, each([half.subarray(0, half.byteLength >> 1)]))).rejects.toThrow();
});

test('is put back in its order also where the broker is not heard at once', async () => {
  for (const text of ['first', 'second', 'third', 'fourth']) await write(text);
  const before = await Promise.all([1, 2, 3, 4].map(messageAt));
  const taken = await take();
  await broker.manager.streams.delete(LOG);
  let unheard = 3;
  const { connection } = broker;
  const request: NatsConnection['request'] = (subject, ...rest) => {
    if (!subject.startsWith('$JS.SNAPSHOT.RESTORE.') || unheard === 0) return connection.request(subject, ...rest);
    unheard -= 1;
    return Promise.reject(new NoRespondersError(subject));
  };
  Object.defineProperty(broker, 'connection', { value: Object.create(connection, { request: { value: request } }) });
  const all = Buffer.concat(taken.pieces);
  const tenths = Array.from({ length: 10 }, (_, at) =>
    all.subarray(Math.floor((at * all.length) / 10), Math.floor(((at + 1) * all.length) / 10)),
  );
  expect(await put(taken, each(tenths))).toBe('restored');
  expect(unheard).toBe(0);
  expect(await Promise.all([1, 2, 3, 4].map(messageAt))).toEqual(before);
});

test('of a stream that is not there is no copy', async () => {
  const stream = COPIED_PAYLOADS[0] ?? '';
  expect(await copyStream({ broker, clock: systemClock, stream, onPiece: () => Promise.resolve() })).toBeNull();
});

test('what no log knows of yet goes, and what lies beside a fact stays', async () => {
  const [job, later] = ['j1', 'j2'] as JobId[];
  for (const name of [...COPIED_LOGS, ...COPIED_PAYLOADS]) {
    if (name !== LOG) await broker.manager.streams.add(jobStreamConfig(name, SIZE));
  }
  const subjects = [job, later].map((jobId) => chunkSubject({ endpointId: ENDPOINT, jobId: jobId as JobId }, 1, 0)) as [
    string,
    string,
  ];
  await broker.request(subjects[0], 'chunk');
  const other = await idleEndpoint();
  await broker.request(chunkSubject({ endpointId: other, jobId: job as JobId }, 1, 0), 'of a shard without facts');
  await write('the fact');
  const { time } = (await broker.manager.streams.getMessage(LOG, { seq: 1 })) as { time: Date };
  await after(time.getTime());
  await broker.request(subjects[1], 'chunk');
  // As far as the clocks of brokers may be apart it may be what a fact names.
  expect(await removeLatePayloads(broker, { atMs: 0, clocksApartMs: 3_600_000 })).toBe(0);
  expect(await removeLatePayloads(broker, { atMs: 0, clocksApartMs: 0 })).toBe(1);
  expect(
    await broker.manager.streams.getMessage(STREAMS.chunks(job as JobId), { last_by_subj: subjects[0] }),
  ).not.toBeNull();
  expect(
    await broker.manager.streams.getMessage(STREAMS.chunks(later as JobId), { last_by_subj: subjects[1] }),
  ).toBeNull();
  expect(await removeLatePayloads(broker, { atMs: 0, clocksApartMs: 0 })).toBe(0);
});

/** Of another shard, in whose log is nothing. */
function idleEndpoint(): Promise<EndpointId> {
  const ids = Array.from({ length: LOG_SHARDS * 4 }, (_, at) => `idle-${at}` as EndpointId);
  const other = ids.find((id) => logShard(id) !== logShard(ENDPOINT));
  return other === undefined ? Promise.reject(new Error('all are of one shard')) : Promise.resolve(other);
}

/** Until the clock, which the broker shares, shows a later millisecond. */
async function after(atMs: number): Promise<void> {
  while (systemClock.nowMs() <= atMs) await systemClock.sleep(1);
}
