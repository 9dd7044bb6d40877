import type { EndpointId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { ClusterFaults, useNatsCluster } from '@berth/testing/servers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Broker } from '../../src/broker/broker.js';
import { LOG_ANSWER_MS, NatsLogBroker } from '../../src/endpoint-log/nats-log-broker.js';
import { logShard } from '../../src/topology/shards.js';
import { logStream } from '../../src/topology/subjects.js';
import { SIZE, ensure, openBrokerAt } from '../open-broker.js';
import { Storm } from './log-storm.js';

const nats = useNatsCluster();
const brokers: Broker[] = [];
const faults = new ClusterFaults(nats);

const SETUP_TIMEOUT_MS = 240_000;
const STORM_TIMEOUT_MS = 240_000;

beforeAll(async () => {
  for (let nth = 0; nth < 3; nth += 1) {
    brokers.push(await openBrokerAt(nats.cluster.url, { timeoutMs: LOG_ANSWER_MS }));
  }
  await ensure(brokers[0] as Broker, 'jobs', { ...SIZE, replicas: 3 });
  await faults.open();
}, SETUP_TIMEOUT_MS);
afterAll(async () => {
  await faults.close();
  await Promise.all(brokers.map(({ connection }) => connection.close()));
});

test(
  'no batch is lost, doubled, or taken for somebody else’s while leaders change',
  async () => {
    const weather = new Storm({ brokers, alone: 24, shared: 4 });
    const report = await weather.run(async () => {
      await weather.progress(5);
      await faults.stepDown(streamOf(weather, 0));
      await faults.freeze(streamOf(weather, 1));
      await weather.progress(3);
      await faults.restart(streamOf(weather, 2), 'kill');
      await faults.stepDown(streamOf(weather, 3));
      await weather.progress(5);
    });
    await weather.check(new NatsLogBroker({ broker: brokers[0] as Broker, clock: systemClock }));
    // There would be nothing to settle otherwise.
    expect(report.unknown).toBeGreaterThan(0);
    expect(report.lost).toBeGreaterThan(0);
  },
  STORM_TIMEOUT_MS,
);

const streamOf = ({ endpoints }: Storm, nth: number): string => logStream(logShard(endpoints[nth] as EndpointId));
