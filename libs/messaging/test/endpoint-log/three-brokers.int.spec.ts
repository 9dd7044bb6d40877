import { logBrokerConformance, shardClaimsConformance } from '@berth/testing/conformance';
import { useNatsCluster } from '@berth/testing/servers';
import { afterAll, beforeAll } from '@jest/globals';
import type { Broker } from '../../src/broker/broker.js';
import { NatsShardClaims } from '../../src/endpoint-log/nats-shard-claims.js';
import { SIZE, ensure, openBrokerAt } from '../open-broker.js';
import { conformingLog } from './conforming-log.js';

const nats = useNatsCluster();
let broker: Broker;

const SETUP_TIMEOUT_MS = 240_000;

beforeAll(async () => {
  broker = await openBrokerAt(nats.cluster.url);
  await ensure(broker, 'jobs', { ...SIZE, replicas: 3 });
}, SETUP_TIMEOUT_MS);
afterAll(() => broker.connection.close());

let shards = 0;

logBrokerConformance('three brokers', () => Promise.resolve(conformingLog(broker)));
shardClaimsConformance(
  'three brokers',
  (presenceMs) => Promise.resolve({ port: new NatsShardClaims(broker, presenceMs), elapse: () => Promise.resolve() }),
  { freshShard: () => shards++ },
);
