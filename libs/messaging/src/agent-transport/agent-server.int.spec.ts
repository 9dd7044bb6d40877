import { expect, test } from '@jest/globals';
import { systemClock } from '@berth/lifecycle';
import { silentLogger } from '@berth/telemetry';
import { useNatsServer } from '@berth/testing';
import { AgentServer } from './agent-server.js';
import { AgentTransport } from './agent-transport.js';

const SUBJECT = 'agents.host-a.up.echo';
const nats = useNatsServer();

test('what is on its way when it stops is answered, or told that nobody is there', async () => {
  const [connection, client] = [await nats.connect(), await nats.connect()];
  const options = { connection, queue: 'stopping', drainMs: 10_000, clock: systemClock, logger: silentLogger };
  const transport = new AgentTransport(client);
  for (let round = 0; round < 20; round += 1) {
    const server = new AgentServer(options);
    server.addHandler(SUBJECT, (body: unknown) => Promise.resolve(body));
    await new Promise<unknown>((resolve) => {
      server.listen(resolve);
    });
    const requests = Array.from({ length: 20 }, (_, n) => transport.request(SUBJECT, n, { timeoutMs: 5_000 }));
    const outcomes = Promise.allSettled(requests);
    await Promise.resolve();
    await server.close();
    for (const [n, outcome] of (await outcomes).entries()) {
      if (outcome.status === 'fulfilled') expect(outcome.value).toBe(n);
      else expect(outcome.reason).toMatchObject({ failure: 'no-responder' });
    }
  }
});
