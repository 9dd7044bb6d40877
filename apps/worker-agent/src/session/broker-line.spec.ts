import { silentLogger } from '@berth/telemetry';
import type { NatsConnection } from '@nats-io/transport-node';
import { expect, test } from '@jest/globals';
import { BrokerLine } from './broker-line.js';

test('a line that is closed while its connection comes to stand leaves none behind', async () => {
  const connected = Promise.withResolvers<NatsConnection>();
  const closed = Promise.withResolvers<undefined>();
  const opened: NatsConnection[] = [];
  const connection = {
    close: async () => closed.resolve(undefined),
    closed: () => closed.promise,
  } as unknown as NatsConnection;
  const line = new BrokerLine({
    connect: () => connected.promise,
    onOpen: (each) => opened.push(each),
    logger: silentLogger,
  });
  line.start();
  const closing = line.close();
  connected.resolve(connection);
  await closing;
  await closed.promise;
  expect(opened).toEqual([]);
});
