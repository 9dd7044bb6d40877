import { expect, test } from '@jest/globals';
import { inboxPrefix } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { silentLogger } from '@berth/telemetry';
import { useNatsServer } from '@berth/testing/servers';
import { AgentServer } from './agent-server.js';
import { AgentTransport } from './agent-transport.js';
import { reachesNobody } from './confirmed-reply.js';

const SUBJECT = 'agents.host-a.up.echo';
const HOST = 'host-a' as HostId;
const HOURS_MS = 7_200_000;
const nats = useNatsServer();
const guarded = useNatsServer({ access: 'roles' });

test('what is on its way when it stops is answered, or told that nobody is there', async () => {
  const [connection, client] = [await nats.connect(), await nats.connect({ inboxPrefix: inboxPrefix(HOST) })];
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

test('an answer that it has no right to give any more has reached nobody', async () => {
  const gateway = await guarded.connectAs('gateway');
  expect(await reachesNobody(gateway, `${inboxPrefix(HOST)}.asked.before`, '{}')).toBe(true);
  expect(await reachesNobody(gateway, '_INBOX_router.asked.before', '{}')).toBe(true);
});

test('what was asked before the broker was away is given up once it is back, and what is asked meanwhile at once', async () => {
  const client = await nats.connect({ reconnectTimeWait: 100, maxReconnectAttempts: -1 });
  const silent = await nats.connect({ reconnectTimeWait: 100, maxReconnectAttempts: -1 });
  silent.subscribe(SUBJECT, { callback: () => undefined });
  await silent.flush();
  const transport = new AgentTransport(client);
  const ask = (): Promise<unknown> => transport.request(SUBJECT, {}, { timeoutMs: HOURS_MS });
  const before = expect(ask()).rejects.toMatchObject({ failure: 'unanswered', isRetriable: true });
  await client.flush();
  const lost = (async () => {
    for await (const { type } of client.status()) if (type === 'disconnect') return;
  })();
  await nats.server.kill();
  await lost;
  await expect(ask()).rejects.toMatchObject({ failure: 'not-connected', isRetriable: true });
  await nats.restart('kill');
  await before;
});
