import type { EndpointId } from '@berth/domain';
import { systemClock, systemRandom, type Clock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { useNatsCluster } from '@berth/testing/servers';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { copyStream, jobStreamConfig, restoreStream } from '../src/stream-copies/index.js';
import { ensureTopology } from '../src/topology/ensure-topology.js';
import { logShard } from '../src/topology/shards.js';
import { streamConfigs } from '../src/topology/streams.js';
import { logStream, logSubject } from '../src/topology/subjects.js';
import { openBrokerAt, SIZE } from './open-broker.js';

const nats = useNatsCluster();
const ENDPOINT = 'e1' as EndpointId;
const LOG = logStream(logShard(ENDPOINT));
const REPLICATED = { ...SIZE, replicas: 3 as const };
const CONFIG = jobStreamConfig(LOG, REPLICATED);
const LAST = 2;
const UNHEARD_WITHIN_MS = 120_000;
const PETABYTE = 1024 ** 5;

let broker: Broker;

beforeEach(async () => {
  broker = await openBrokerAt(nats.cluster.servers[0]?.url ?? '');
});
afterEach(() => broker.connection.close());

/** Two of the three have started, and have a leader that has never heard from the last one. */
async function startTwo(): Promise<void> {
  await broker.connection.close();
  for (const server of nats.cluster.servers) await server.kill();
  await Promise.all([0, 1].map((place) => nats.cluster.startAgain(place)));
  broker = await openBrokerAt(nats.cluster.servers[0]?.url ?? '');
  await eventually(
    async () => {
      const trial = { name: 'TRIAL', subjects: ['trial'], num_replicas: 3 };
      const answer = await broker.connection.request('$JS.API.STREAM.CREATE.TRIAL', JSON.stringify(trial));
      expect(answer.json()).toMatchObject({ error: { err_code: 10005 } });
    },
    { deadlineMs: UNHEARD_WITHIN_MS },
  );
}

/** Whoever waits for the first time waits for the last broker. */
function clockThatStartsTheLast(): Clock {
  let isStarted = false;
  return {
    ...systemClock,
    sleep: async (ms, signal) => {
      if (isStarted) return systemClock.sleep(ms, signal);
      isStarted = true;
      await nats.cluster.startAgain(LAST);
    },
  };
}

test('a stream is put back once enough brokers have heard from each other', async () => {
  await eventually(() => broker.manager.streams.add(CONFIG));
  await broker.request(logSubject(ENDPOINT), 'first');
  const pieces: Uint8Array[] = [];
  const onPiece = (piece: Uint8Array) => Promise.resolve(void pieces.push(piece));
  const state = await copyStream({ broker, clock: systemClock, stream: LOG, onPiece });
  if (state === null) throw new Error('there is no such stream');
  await broker.manager.streams.delete(LOG);
  await startTwo();
  async function* each(): AsyncGenerator<Uint8Array> {
    yield* pieces;
  }
  const tools = { broker, clock: clockThatStartsTheLast(), random: systemRandom };
  expect(await restoreStream({ ...tools, config: CONFIG, state, pieces: each() })).toBe('restored');
  const found = await eventually(() => broker.manager.streams.getMessage(LOG, { seq: 1 }));
  expect(found?.string()).toBe('first');
});

test('the topology is made once enough brokers have heard from each other', async () => {
  await startTwo();
  const tools = { broker, clock: clockThatStartsTheLast(), random: systemRandom };
  const onChange = jest.fn();
  await ensureTopology({ ...tools, part: 'snapshots', size: REPLICATED, onChange });
  const names = streamConfigs('snapshots', REPLICATED).map(({ name }) => name);
  expect(onChange).toHaveBeenCalledWith({ created: names, updated: [] });
});

test('a start for which brokers are missing says how many it needs', async () => {
  await startTwo();
  const options = { clock: systemClock, random: systemRandom, part: 'jobs', size: REPLICATED, attemptsMax: 2 } as const;
  await expect(ensureTopology({ ...options, broker })).rejects.toThrow(/LOG_0 is held by 3 brokers/);
  await nats.cluster.startAgain(LAST);
});

test('brokers without the room for a stream say at once what they lack', async () => {
  const size = { ...REPLICATED, storageBytes: PETABYTE };
  const sleep = jest.fn(() => Promise.resolve());
  const clock = { ...systemClock, sleep };
  await expect(ensureTopology({ broker, clock, random: systemRandom, part: 'jobs', size })).rejects.toThrow(
    /no room for stream .*insufficient storage/,
  );
  expect(sleep).not.toHaveBeenCalled();
});
