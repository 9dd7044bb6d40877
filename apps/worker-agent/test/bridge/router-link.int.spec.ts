import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  jobSubject,
  stopSubject,
  withdrawSubject,
  WIRE_VERSION,
  type StopMessage,
  type TakeReply,
} from '@berth/contracts';
import type { EndpointId, HostId, JobId, WorkerId } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import { silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { TransportRouterLink } from '../../src/job-client/transport-router-link.js';

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
  router.subscribe(jobSubject('*', 'upload'), {
    callback: (_, message) => {
      asked.push(message.subject, message.json());
      message.respond(JSON.stringify({ v: WIRE_VERSION, result: { outcome: 'recorded' } }));
    },
  });
  await router.flush();
  const request = { ...REF, part: 0, base64: '' };
  expect(await link.ask('upload', request, { timeoutMs: 5_000 })).toEqual({ outcome: 'recorded' });
  expect(asked).toEqual([jobSubject(HOST, 'upload'), { v: WIRE_VERSION, body: request }]);
});

describe('wishes that are asked together', () => {
  const wish = (takeId: string) => ({
    ...{ takeId, endpointId: REF.endpointId, workerId: 'w1' as WorkerId },
    ...{ slots: 1, waitMs: 0 },
  });
  const none = (takeId: string) => ({ takeId, kind: 'none' }) as const;
  const held: Msg[] = [];
  const tell = (message: Msg | undefined, ...answers: readonly object[]): void =>
    void message?.respond(JSON.stringify({ v: WIRE_VERSION, result: { answers } }));

  beforeAll(async () => {
    router.subscribe(jobSubject('*', 'take'), { callback: (_, message) => void held.push(message) });
    await router.flush();
  });

  test('are answered in parts, and what comes after the last is heard too', async () => {
    const [heard, late]: TakeReply[][] = [[], []];
    const taken = link.askParts(
      'take',
      { wishes: [wish('a'), wish('b')] },
      {
        timeoutMs: 20_000,
        onPart: (reply) => (heard ?? []).push(reply) === 2,
        onLate: (reply) => void late?.push(reply),
      },
    );
    await eventually(() => expect(held).toHaveLength(1));
    const [message] = held.splice(0);
    tell(message, none('b'));
    tell(message, none('a'));
    await taken;
    expect(heard).toEqual([{ answers: [none('b')] }, { answers: [none('a')] }]);
    tell(message, none('a'));
    await eventually(() => expect(late).toEqual([{ answers: [none('a')] }]));
    // What another kind of question hears late is none of its business.
    const ends = { timeoutMs: 20_000, onPart: () => true, onLate: () => undefined };
    await expect(link.askParts('done', { ends: [] }, ends)).rejects.toMatchObject({ failure: 'no-responder' });
    tell(message, none('b'));
    await eventually(() => expect(late).toEqual([{ answers: [none('a')] }, { answers: [none('b')] }]));
  });

  test('fail together with the error that a router tells, or where none answers', async () => {
    const options = { timeoutMs: 20_000, onPart: () => true, onLate: () => undefined };
    const refused = link.askParts('take', { wishes: [wish('c')] }, options);
    await eventually(() => expect(held).toHaveLength(1));
    const error = { code: 'rate-limited', detail: 'later', isRetriable: true };
    held.splice(0)[0]?.respond(JSON.stringify({ v: WIRE_VERSION, error }));
    await expect(refused).rejects.toMatchObject({ code: 'rate-limited' });
    await expect(link.askParts('take', { wishes: [wish('d')] }, { ...options, timeoutMs: 50 })).rejects.toMatchObject({
      failure: 'timeout',
    });
    await expect(link.askParts('done', { ends: [] }, options)).rejects.toMatchObject({ failure: 'no-responder' });
  });
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
