import type { EndpointId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { useNatsCluster } from '@berth/testing/servers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { copyStream, jobStreamConfig, restoreStream } from '../src/stream-copies/index.js';
import { logShard } from '../src/topology/shards.js';
import { logStream, logSubject } from '../src/topology/subjects.js';
import { openBrokerAt, SIZE } from './open-broker.js';

const nats = useNatsCluster();
const ENDPOINT = 'e1' as EndpointId;
const LOG = logStream(logShard(ENDPOINT));
const REPLICATED = { ...SIZE, replicas: 3 as const };
/** At each broker, one of which leads. */
const TIMES = 5;

let brokers: readonly Broker[];

beforeEach(async () => {
  brokers = await Promise.all(nats.cluster.url.split(',').map((url) => openBrokerAt(url)));
});
afterEach(() => Promise.all(brokers.map(({ connection }) => connection.close())));

async function* each(pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* pieces;
}

test('a stream is put back over whichever of three brokers, on all of them', async () => {
  const [first] = brokers;
  if (first === undefined) throw new Error('there are no brokers');
  const config = jobStreamConfig(LOG, REPLICATED);
  await eventually(() => first.manager.streams.add(config));
  for (const text of ['first', 'second', 'third']) await first.request(logSubject(ENDPOINT), text);
  const pieces: Uint8Array[] = [];
  const onPiece = (piece: Uint8Array) => Promise.resolve(void pieces.push(piece));
  const copied = await copyStream({ broker: first, clock: systemClock, stream: LOG, onPiece });
  if (copied === null) throw new Error('there is no such stream');
  for (const broker of Array.from({ length: TIMES }, () => brokers).flat()) {
    await broker.manager.streams.delete(LOG);
    expect(
      await restoreStream({
        broker,
        clock: systemClock,
        random: systemRandom,
        config,
        state: copied,
        pieces: each(pieces),
      }),
    ).toBe('restored');
    const found = await eventually(() => broker.manager.streams.getMessage(LOG, { seq: 3 }));
    expect(found?.string()).toBe('third');
    // A broker without a leader it knows of, for a moment, names no others.
    await eventually(async () => {
      expect((await broker.manager.streams.info(LOG)).cluster?.replicas).toHaveLength(2);
    });
  }
});
