import { inspect } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { inboxPrefix, jobSubject, stopSubject, withdrawSubject } from '@berth/contracts';
import { PlatformError, type HostId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { currentLogContext, silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import type { NatsConnection } from '@nats-io/transport-node';
import { Module, type INestApplication } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { CurrentHost, CurrentTraceparent } from './agent-decorators.js';
import { AgentTransport, publishOneWay } from './agent-transport.js';
import { AgentGateway, connectAgentGateway } from './agent-gateway.js';
import { TransportError } from './transport-error.js';
import { isRetriable } from './wire-codec.js';

const HOST = 'host-a' as HostId;
const OTHER = 'host-b' as HostId;
const nats = useNatsServer();
const held: (() => void)[] = [];
const told: { readonly host: HostId; readonly body: unknown }[] = [];

@AgentGateway()
class GatewayController {
  @MessagePattern(jobSubject('*', 'take'))
  async take(@CurrentHost() host: HostId, @Payload() body: { waitMs: number }): Promise<object> {
    if (body.waitMs > 0) await new Promise<void>((resolve) => held.push(resolve));
    return host === HOST ? { kind: 'none' } : { kind: 'not-placed' };
  }

  @EventPattern<string>(withdrawSubject('*'))
  withdraw(@CurrentHost() host: HostId, @Payload() body: { isDefect?: boolean }): void {
    told.push({ host, body });
    if (body.isDefect === true) throw new TypeError('internal text');
  }

  @MessagePattern(jobSubject('*', 'renew'))
  renew(@Payload() body: { code: string }): never {
    if (body.code === 'defect') throw new TypeError('internal text');
    throw new PlatformError(body.code as 'host-not-found', `No host: ${body.code}.`);
  }

  @MessagePattern(jobSubject('*', 'done'))
  done(@CurrentTraceparent() traceparent: string | null): object {
    return { traceparent, ids: currentLogContext() };
  }
}

@Module({ controllers: [GatewayController] })
class GatewayModule {}

let app: INestApplication;
let server: NatsConnection;
let client: NatsConnection;
let transport: AgentTransport;
let other: AgentTransport;

beforeAll(async () => {
  server = await nats.connect();
  client = await nats.connect({ inboxPrefix: inboxPrefix(HOST) });
  transport = new AgentTransport(client);
  other = new AgentTransport(await nats.connect({ inboxPrefix: inboxPrefix(OTHER) }));
  app = await NestFactory.create(GatewayModule, new FastifyAdapter(), { logger: false });
  connectAgentGateway(app, {
    connection: server,
    queue: 'job-router',
    drainMs: 5_000,
    clock: systemClock,
    logger: silentLogger,
  });
  await app.startAllMicroservices();
});
afterAll(() => app.close());

const request = (host: HostId, verb: 'take' | 'renew' | 'done', body: unknown): Promise<unknown> =>
  (host === HOST ? transport : other).request(jobSubject(host, verb), body, { timeoutMs: 5_000 });

describe('a request to the server side', () => {
  test('is answered with what the handler returns, and the handler knows the host from the subject', async () => {
    expect(await request(HOST, 'take', { waitMs: 0 })).toEqual({ kind: 'none' });
    expect(await request(OTHER, 'take', { waitMs: 0 })).toEqual({ kind: 'not-placed' });
  });

  test('that is held keeps no other request waiting, and is answered when the hold ends', async () => {
    const order: string[] = [];
    const slow = request(HOST, 'take', { waitMs: 20_000 }).then(() => order.push('held'));
    await eventually(() => {
      expect(held).toHaveLength(1);
    });
    await Promise.all(Array.from({ length: 20 }, () => request(HOST, 'take', { waitMs: 0 })));
    order.push('others');
    held.splice(0).forEach((release) => {
      release();
    });
    await slow;
    expect(order).toEqual(['others', 'held']);
  });

  test.each([
    ['host-not-found', false],
    ['service-unavailable', true],
  ])('fails with the error %s that the handler threw', async (code, retriable) => {
    const error: unknown = await request(HOST, 'renew', { code }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PlatformError);
    expect(error).toMatchObject({ code, message: `No host: ${code}.` });
    expect(isRetriable(error)).toBe(retriable);
  });

  test('that meets a defect fails without the text of the defect', async () => {
    const error: unknown = await request(HOST, 'renew', { code: 'defect' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'internal-error' });
    expect(String(error)).not.toContain('internal text');
  });

  test('carries its trace, and the handler logs with host and trace', async () => {
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const reply = await transport.request(jobSubject(HOST, 'done'), {}, { timeoutMs: 5_000, traceparent });
    expect(reply).toEqual({ traceparent, ids: { hostId: HOST, traceId: '4bf92f3577b34da6a3ce929d0e0e4736' } });
  });

  test.each([['{"v":2,"body":{}}'], ['{"body":{}}'], ['no json'], ['null']])(
    'of another version (%s) is refused by name, at once',
    async (text) => {
      const reply = await client.request(jobSubject(HOST, 'take'), text, { timeout: 5_000 });
      expect(reply.json()).toMatchObject({ v: 1, error: { code: 'wire-version', isRetriable: false } });
    },
  );
});

describe('a request that gets no answer', () => {
  test('says that nobody listens', async () => {
    await expect(transport.request('agents.host-a.up.nothing', {}, { timeoutMs: 500 })).rejects.toMatchObject({
      failure: 'no-responder',
      isRetriable: true,
    });
  });

  test('says that its time is over', async () => {
    await expect(
      transport.request(jobSubject(HOST, 'take'), { waitMs: 20_000 }, { timeoutMs: 50 }),
    ).rejects.toMatchObject({ failure: 'timeout', isRetriable: true });
    await eventually(() => {
      expect(held.length).toBeGreaterThan(0);
    });
    held.splice(0).forEach((release) => {
      release();
    });
  });

  test('ends at once when the caller gives up', async () => {
    const stop = new AbortController();
    const waiting = transport.request(
      jobSubject(HOST, 'take'),
      { waitMs: 20_000 },
      { timeoutMs: 60_000, signal: stop.signal },
    );
    await eventually(() => {
      expect(held.length).toBeGreaterThan(0);
    });
    stop.abort();
    await expect(waiting).rejects.toBeInstanceOf(TransportError);
    held.splice(0).forEach((release) => {
      release();
    });
  });

  test('of a reply in another version says so', async () => {
    client.subscribe('agents.host-a.up.old', { callback: (_, message) => void message.respond('{"v":9,"result":1}') });
    await expect(transport.request('agents.host-a.up.old', {}, { timeoutMs: 5_000 })).rejects.toMatchObject({
      failure: 'wire-version',
      isRetriable: false,
    });
  });
});

test('a reply that cannot be read is not quoted: it may hold what no log may show', async () => {
  const reply = '{"v":1,"result":{"env":{"KEY":hidden}}}';
  client.subscribe('agents.host-a.up.torn', { callback: (_, message) => void message.respond(reply) });
  const error: unknown = await transport
    .request('agents.host-a.up.torn', {}, { timeoutMs: 5_000 })
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ failure: 'wire-version', message: 'The message is not JSON.' });
  expect(inspect(error, { depth: null })).not.toContain('hidden');
});

test('one-way messages reach who listens, and what cannot be read is told', async () => {
  const heard: unknown[] = [];
  const unreadable: unknown[] = [];
  const end = transport.listen(
    stopSubject(HOST),
    (body) => heard.push(body),
    (error) => unreadable.push(error),
  );
  await client.flush();
  publishOneWay(server, stopSubject(HOST), { jobs: [] });
  server.publish(stopSubject(HOST), '{"v":2}');
  await eventually(() => {
    expect(heard).toEqual([{ jobs: [] }]);
    expect(unreadable).toHaveLength(1);
  });
  end();
});

test('what an agent only tells is heard by every server, and a handler that fails over it harms nobody', async () => {
  const own = await NestFactory.create(GatewayModule, new FastifyAdapter(), { logger: false });
  const connection = await nats.connect();
  const options = { queue: 'job-router', drainMs: 1_000, clock: systemClock, logger: silentLogger };
  connectAgentGateway(own, { ...options, connection });
  await own.startAllMicroservices();
  transport.tell(withdrawSubject(HOST), { isDefect: true });
  client.publish(withdrawSubject(HOST), 'no json');
  transport.tell(withdrawSubject(HOST), { workerId: 'w1' });
  await eventually(() => {
    const expected = [{ isDefect: true }, { workerId: 'w1' }].map((body) => ({ host: HOST, body }));
    expect(told).toEqual(expect.arrayContaining(expected));
    expect(told).toHaveLength(4);
  });
  await own.close();
});

test('stopping lets requests in flight be answered, and takes no new one', async () => {
  const own = await NestFactory.create(GatewayModule, new FastifyAdapter(), { logger: false });
  const connection = await nats.connect();
  const clock = new ManualClock();
  connectAgentGateway(own, { connection, queue: 'second', drainMs: 1_000, clock, logger: silentLogger });
  await own.startAllMicroservices();
  await app.close();
  const answer = request(OTHER, 'take', { waitMs: 1 });
  await eventually(() => {
    expect(held).toHaveLength(1);
  });
  const closed = own.close();
  held.splice(0).forEach((release) => {
    release();
  });
  expect(await answer).toEqual({ kind: 'not-placed' });
  await closed;
  await expect(request(OTHER, 'take', { waitMs: 0 })).rejects.toMatchObject({ failure: 'no-responder' });
});
