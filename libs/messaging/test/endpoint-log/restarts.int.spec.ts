import { systemClock } from '@berth/lifecycle';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Broker } from '../../src/broker/broker.js';
import { LOG_ANSWER_MS, NatsLogBroker } from '../../src/endpoint-log/nats-log-broker.js';
import { ensure, openBroker } from '../open-broker.js';
import { Storm } from './log-storm.js';

const nats = useNatsServer();
const brokers: Broker[] = [];

const STORM_TIMEOUT_MS = 240_000;

beforeAll(async () => {
  for (let nth = 0; nth < 3; nth += 1) brokers.push(await openBroker(nats, { timeoutMs: LOG_ANSWER_MS }));
  await ensure(brokers[0] as Broker, 'jobs');
});
afterAll(async () => {
  await Promise.all(brokers.map(({ connection }) => connection.close()));
});

test(
  'no batch is lost, doubled, or taken for somebody else’s while one broker dies, stands still, and comes back',
  async () => {
    const weather = new Storm({ brokers, alone: 24, shared: 4 });
    const report = await weather.run(async () => {
      await weather.progress(5);
      await nats.restart('kill');
      await weather.progress(5);
      process.kill(nats.server.pid, 'SIGSTOP');
      await weather.doubt();
      process.kill(nats.server.pid, 'SIGCONT');
      await weather.progress(5);
      await nats.restart('stop');
      await weather.progress(5);
      // Dead while it stands still: what was sent meanwhile goes with it.
      process.kill(nats.server.pid, 'SIGSTOP');
      await weather.doubt();
      await nats.restart('kill');
      await weather.progress(5);
    });
    await weather.check(new NatsLogBroker({ broker: brokers[0] as Broker, clock: systemClock }));
    expect(report.unknown).toBeGreaterThan(0);
    expect(report.lost).toBeGreaterThan(0);
  },
  STORM_TIMEOUT_MS,
);
