import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { jobSubject, stopSubject, withdrawSubject, WIRE_VERSION, type StopMessage } from '@berth/contracts';
import type { EndpointId, HostId, JobId, WorkerId } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import { silentLogger } from '@berth/telemetry';
import { eventually, useNatsServer } from '@berth/testing';
import type { NatsConnection } from '@nats-io/transport-node';
import { TransportRouterLink } from '../../src/job-client/job-client.service.js';

const HOST = 'host-a' as HostId;
const nats = useNatsServer();
let router: NatsConnection;
let link: TransportRouterLink;

beforeAll(async () => {
  router = await nats.connect();
  link = new TransportRouterLink(new AgentTransport(await nats.connect()), HOST, silentLogger);
});
afterAll(() => router.close());

const REF = { endpointId: 'ep1' as EndpointId, jobId: 'j1' as JobId, attempt: 1, token: 't' };

test('a question reaches a router under the host that asks, and its answer comes back', async () => {
  const asked: unknown[] = [];
  router.subscribe(jobSubject('*', 'take'), {
    callback: (_, message) => {
      asked.push(message.subject, message.json());
      message.respond(JSON.stringify({ v: WIRE_VERSION, result: { kind: 'none' } }));
    },
  });
  await router.flush();
  const request = { endpointId: REF.endpointId, workerId: 'w1' as WorkerId, slots: 1, waitMs: 0 };
  expect(await link.ask('take', request, { timeoutMs: 5_000 })).toEqual({ kind: 'none' });
  expect(asked).toEqual([jobSubject(HOST, 'take'), { v: WIRE_VERSION, body: request }]);
});

test('the largest chunk fits into one message, however much of it must be escaped', async () => {
  router.subscribe(jobSubject('*', 'chunk'), {
    callback: (_, message) => {
      const { body } = message.json<{ body: { body: string } }>();
      const outcome = body.body.length === 1_000_000 ? 'recorded' : 'superseded';
      message.respond(JSON.stringify({ v: WIRE_VERSION, result: { outcome } }));
    },
  });
  await router.flush();
  const body = `"${'\\"'.repeat(499_999)}"` as never;
  expect(await link.ask('chunk', { ...REF, index: 0, body }, { timeoutMs: 5_000 })).toEqual({ outcome: 'recorded' });
});

test("the trace of the submitting request travels in the message's header", async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const heard: (string | undefined)[] = [];
  router.subscribe(jobSubject('*', 'progress'), {
    callback: (_, message) => {
      heard.push(message.headers?.get('traceparent'));
      message.respond(JSON.stringify({ v: WIRE_VERSION, result: { outcome: 'recorded' } }));
    },
  });
  await router.flush();
  const request = { ...REF, output: { kind: 'inline', json: '1' as never } } as const;
  await link.ask('progress', request, { timeoutMs: 5_000, traceparent });
  expect(heard).toEqual([traceparent]);
});

test('a question that nobody answers is rejected', async () => {
  await expect(link.ask('renew', { leases: [] }, { timeoutMs: 500 })).rejects.toThrow();
});

test('a withdrawal reaches every router that listens', async () => {
  const other = await nats.connect();
  const heard: unknown[] = [];
  for (const each of [router, other]) {
    each.subscribe(withdrawSubject('*'), {
      callback: (_, message) => void heard.push(message.subject, message.json()),
    });
    await each.flush();
  }
  const body = { endpointId: REF.endpointId, workerId: 'w1' as WorkerId };
  link.withdraw(body);
  const one = [withdrawSubject(HOST), { v: WIRE_VERSION, body }];
  await eventually(() => {
    expect(heard).toEqual([...one, ...one]);
  });
});

test('stop messages of this host are heard, one that cannot be read harms nobody', async () => {
  const heard: StopMessage[] = [];
  const end = link.onStop((message) => heard.push(message));
  await eventually(() => {
    router.publish(stopSubject(HOST), 'not ours');
    const body: StopMessage = { jobs: [{ ...REF, reason: 'cancelled' }] };
    router.publish(stopSubject(HOST), JSON.stringify({ v: WIRE_VERSION, body }));
    expect(heard).not.toEqual([]);
  });
  expect(heard[0]).toEqual({ jobs: [{ ...REF, reason: 'cancelled' }] });
  end();
});
