import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inboxPrefix, jobSubject } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import type { NatsConnection } from '@nats-io/transport-node';
import { Writable } from 'node:stream';
import { AgentServer } from './agent-server.js';
import { AgentTransport } from './agent-transport.js';
import { ConfirmedReply } from './confirmed-reply.js';

const HOST = 'host-a' as HostId;
const TAKE = jobSubject(HOST, 'take');
/** Lets everybody do everything: what is not written there was held back by the server of agents alone. */
const nats = useNatsServer();
const handled: unknown[] = [];
const undelivered: unknown[] = [];
const refused: string[] = [];
const lines: string[] = [];
let agent: NatsConnection;
let server: AgentServer;

const logger = createLogger({
  name: 'test',
  level: 'info',
  format: 'json',
  output: new Writable({
    write: (line: Buffer, _, done) => {
      lines.push(line.toString());
      done();
    },
  }),
});

beforeAll(async () => {
  agent = await nats.connect({ inboxPrefix: inboxPrefix(HOST) });
  server = new AgentServer({
    connection: await nats.connect(),
    queue: 'job-router',
    drainMs: 5_000,
    clock: systemClock,
    logger,
    onRefused: (fault) => refused.push(fault),
  });
  server.addHandler(jobSubject('*', 'take'), (body: unknown) => {
    handled.push(body);
    return Promise.resolve(new ConfirmedReply({ kind: 'jobs' }, async () => void undelivered.push(body)));
  });
  server.addHandler(jobSubject('*', 'done'), (body: unknown) => {
    handled.push(body);
    return Promise.resolve({ outcome: 'recorded' });
  });
  await new Promise<unknown>((resolve) => {
    server.listen(resolve);
  });
});
afterAll(() => server.close());

const written: string[] = [];

/** Everything that is published while the messages are sent, but for their own subjects and the host's inbox. */
const tell = async (subject: string, replies: readonly string[]): Promise<void> => {
  const observer = await nats.connect();
  written.length = 0;
  handled.length = 0;
  observer.subscribe('>', {
    callback: (_, message) => {
      const isExpected = message.subject === subject || message.subject.startsWith(`${inboxPrefix(HOST)}.`);
      if (!isExpected && !message.subject.startsWith('_INBOX.')) written.push(message.subject);
    },
  });
  await observer.flush();
  for (const reply of replies) agent.publish(subject, '{"v":1,"body":"hostile"}', reply === '' ? {} : { reply });
  // Over the same connection, so when this one is answered those before it have been heard.
  const transport = new AgentTransport(agent);
  await transport.request(subject, 'honest', { timeoutMs: 5_000 });
  await observer.flush();
  await observer.close();
};

const PLACES = [
  'job.0.e.j',
  '$KV.endpoints.e',
  '$JS.API.STREAM.PURGE.JOBS_0',
  'agents.host-b.down.stop',
  '_INBOX_router.x',
  '_INBOX_agent.host-b.x',
  '_INBOX_agent.host-a',
  '_INBOX_agent.host-ab.x',
  `_INBOX_agent.host-a.${'x'.repeat(300)}`,
];

describe('a host that names a reply subject outside its own inbox', () => {
  test.each(['take', 'done'] as const)('has nothing written there, and its %s is not handled', async (verb) => {
    await tell(jobSubject(HOST, verb), PLACES);
    expect(written).toEqual([]);
    expect(handled).toEqual(['honest']);
    expect(undelivered).toEqual([]);
  });

  test('starts no attempt with a take whose answer could reach nobody', async () => {
    await tell(TAKE, ['']);
    expect(handled).toEqual(['honest']);
  });

  test('is counted each time and logged once, however many hosts do it', async () => {
    refused.length = 0;
    lines.length = 0;
    const loud = 'host-loud' as HostId;
    for (let n = 0; n < 5; n += 1) agent.publish(jobSubject(loud, 'take'), '{}', { reply: 'job.0.e.j' });
    agent.publish(jobSubject(loud, 'take'), '{}');
    await tell(TAKE, []);
    await eventually(() => {
      expect(refused).toEqual([...Array<string>(5).fill('foreign'), 'none']);
    });
    const told = lines.filter((line) => line.includes(loud));
    expect(told).toHaveLength(1);
    for (let n = 0; n < 1_200; n += 1) {
      agent.publish(jobSubject(`h${String(n)}` as HostId, 'take'), '{}', { reply: 'job.0.e.j' });
    }
    await tell(TAKE, []);
    expect(refused).toHaveLength(1_206);
    expect(lines.length).toBeLessThanOrEqual(1_001);
  });
});
