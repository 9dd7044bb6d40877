import { logBrokerConformance, shardClaimsConformance } from '@berth/testing/conformance';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll } from '@jest/globals';
import type { Broker } from '../../src/broker/broker.js';
import { NatsShardClaims } from '../../src/endpoint-log/nats-shard-claims.js';
import { ensure, openBroker } from '../open-broker.js';
import { conformingLog } from './conforming-log.js';

const nats = useNatsServer();
let broker: Broker;

beforeAll(async () => {
  broker = await openBroker(nats);
  await ensure(broker, 'jobs');
});
afterAll(() => broker.connection.close());

let shards = 0;

logBrokerConformance('one broker', () => Promise.resolve(conformingLog(broker)));
shardClaimsConformance(
  'one broker',
  (presenceMs) => Promise.resolve({ port: new NatsShardClaims(broker, presenceMs), elapse: () => Promise.resolve() }),
  { freshShard: () => shards++ },
);
