import { ROUTER_INBOX, ownerSubject, ownerSubjects, replyFault } from '@berth/contracts';
import type { EndpointId, JobId, UnreadableMessage } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { ManualClock, eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Broker } from '../src/broker/broker.js';
import { connectNats } from '../src/connection.js';
import { encodeOwnerQuestion, readOwnerQuestion } from '../src/owner-questions/owner-question-codec.js';
import { encodeOwnerReply } from '../src/owner-questions/owner-reply-codec.js';
import { OwnerRequests, type OwnerOutcome } from '../src/owner-questions/owner-requests.js';
import { logShard } from '../src/topology/shards.js';

const nats = useNatsServer();

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

const question = { jobId: 'job-1' as JobId, watcher: null };

/** One asker with a clock that stands still, and one endpoint of its own. */
async function openAsker() {
  const connection = await connectNats({
    url: nats.server.url,
    name: 'asker',
    credentials: { kind: 'none' },
    inboxPrefix: ROUTER_INBOX,
    connectWithinMs: 60_000,
    clock: systemClock,
    random: systemRandom,
  });
  const unreadable: UnreadableMessage[] = [];
  const onUnreadable = (message: UnreadableMessage): void => void unreadable.push(message);
  const broker = await Broker.over({ connection, inboxPrefix: ROUTER_INBOX, onUnreadable });
  const clock = new ManualClock();
  const requests = new OwnerRequests(broker, clock);
  const endpointId = systemRandom.id(20) as EndpointId;
  const ask = (
    more: { readonly signal?: AbortSignal; readonly padding?: string } = {},
  ): Promise<OwnerOutcome<'find'>> => {
    const asked = { endpointId, question: { ...question, padding: more.padding } };
    const body = Buffer.from(encodeOwnerQuestion(asked));
    return requests.ask({ endpointId, verb: 'find', body, timeoutMs: 1_500, signal: more.signal });
  };
  const close = async (): Promise<void> => {
    requests.stop();
    await connection.close();
  };
  closings.push(close);
  return { ask, clock, close, connection, endpointId, requests, unreadable };
}

/** Hears the questions to one endpoint's shard, and answers none by itself. */
async function respond(endpointId: EndpointId, answer: (message: Msg) => void = () => undefined) {
  const connection: NatsConnection = await nats.connect();
  // The next test may ask about an endpoint of the same shard, and wants to be heard by nobody.
  closings.push(() => connection.close());
  const heard: Msg[] = [];
  connection.subscribe(ownerSubjects(logShard(endpointId)), {
    callback: (_, message) => {
      const asked = readOwnerQuestion(message.data);
      if (asked.kind !== 'value' || asked.value.endpointId !== endpointId) return;
      heard.push(message);
      answer(message);
    },
  });
  await connection.flush();
  return { connection, heard };
}

/** Lets time go on as the machine's does, until it is stopped. */
const turn = (clock: ManualClock): (() => void) => systemClock.every(10, () => void clock.advance(10));

const NOTHING = encodeOwnerReply({ kind: 'answer', answer: null });
const BUSY = encodeOwnerReply({ kind: 'refused', reason: 'busy' });

describe('a question that is asked once', () => {
  test('is answered by whoever hears it, below the inbox of routers', async () => {
    const asker = await openAsker();
    const { heard } = await respond(asker.endpointId, (message) => message.respond(NOTHING));
    expect(await asker.ask()).toEqual({ kind: 'reply', reply: { kind: 'answer', answer: null } });
    const [message] = heard as [Msg];
    expect(message.subject).toBe(ownerSubject(logShard(asker.endpointId), 'find'));
    expect(replyFault(message.reply, ROUTER_INBOX)).toBeNull();
    expect(readOwnerQuestion(message.data)).toEqual({
      kind: 'value',
      value: { endpointId: asker.endpointId, question },
    });
  });

  test('is not waited for where nobody listens', async () => {
    const asker = await openAsker();
    expect(await asker.ask()).toEqual({ kind: 'no-responders' });
  });

  test('is not waited for once the owner of its shard is known to be gone', async () => {
    const asker = await openAsker();
    const { heard } = await respond(asker.endpointId);
    const asked = asker.ask();
    await eventually(() => expect(heard).toHaveLength(1));
    const shard = logShard(asker.endpointId);
    asker.requests.letGo(new Set([shard + 1]));
    const other = Symbol('still waited for');
    expect(await Promise.race([asked, Promise.resolve(other)])).toBe(other);
    asker.requests.letGo(new Set([shard]));
    expect(await asked).toEqual({ kind: 'silent' });
  });

  test('is waited for as long as was said, and what comes later is nobody’s', async () => {
    const asker = await openAsker();
    const { heard } = await respond(asker.endpointId);
    const first = asker.ask();
    await eventually(() => expect(heard).toHaveLength(1));
    await asker.clock.advance(1_500);
    expect(await first).toEqual({ kind: 'silent' });
    const second = asker.ask();
    await eventually(() => expect(heard).toHaveLength(2));
    heard[0]?.respond(BUSY);
    heard[1]?.respond(NOTHING);
    expect(await second).toMatchObject({ reply: { kind: 'answer' } });
    expect(asker.clock.waiting).toBe(0);
  });

  test('has the first answer of two', async () => {
    const asker = await openAsker();
    const owner = await respond(asker.endpointId, (message) => message.respond(NOTHING));
    const former = await respond(asker.endpointId);
    expect(await asker.ask()).toMatchObject({ reply: { kind: 'answer' } });
    await eventually(() => expect(former.heard).toHaveLength(1));
    former.heard[0]?.respond(BUSY);
    expect(await asker.ask()).toMatchObject({ reply: { kind: 'answer' } });
    expect(owner.heard).toHaveLength(2);
  });

  test('has an answer although somebody said something unreadable before it, which is noted', async () => {
    const asker = await openAsker();
    await respond(asker.endpointId, (message) => {
      message.respond('what?');
      message.respond(JSON.stringify({ v: 2, result: null }));
      message.respond('');
      message.respond(NOTHING);
    });
    expect(await asker.ask()).toMatchObject({ reply: { kind: 'answer' } });
    const key = ownerSubject(logShard(asker.endpointId), 'find');
    expect(asker.unreadable.map(({ reason }) => reason)).toEqual([
      'it is no JSON',
      '$.v is not version 1',
      'it is no JSON',
    ]);
    expect(asker.unreadable[0]).toMatchObject({ place: 'owner replies', key });
  });

  test('is not sent where the broker would not take it', async () => {
    const asker = await openAsker();
    const { heard } = await respond(asker.endpointId, (message) => message.respond(NOTHING));
    const maxBytes = asker.connection.info?.max_payload as number;
    expect(await asker.ask({ padding: 'x'.repeat(maxBytes) })).toEqual({ kind: 'too-large', maxBytes });
    expect(await asker.ask({ padding: 'x'.repeat(maxBytes - 1_000) })).toMatchObject({ kind: 'reply' });
    expect(heard).toHaveLength(1);
  });

  test('is given up with its signal', async () => {
    const asker = await openAsker();
    const { heard } = await respond(asker.endpointId);
    const gone = new AbortController();
    const asked = asker.ask({ signal: gone.signal });
    await eventually(() => expect(heard).toHaveLength(1));
    gone.abort();
    expect(await asked).toEqual({ kind: 'silent' });
    expect(await asker.ask({ signal: gone.signal })).toEqual({ kind: 'silent' });
    expect(asker.clock.waiting).toBe(0);
  });

  test('is not waited for on a connection that was closed', async () => {
    const asker = await openAsker();
    const { heard } = await respond(asker.endpointId);
    const asked = asker.ask();
    await eventually(() => expect(heard).toHaveLength(1));
    await asker.close();
    expect(await asked).toEqual({ kind: 'disconnected' });
    expect(await asker.ask()).toEqual({ kind: 'disconnected' });
  });

  test('is not waited for when the broker goes, and is answered when it is back', async () => {
    const asker = await openAsker();
    const { heard } = await respond(asker.endpointId, (message) => heard.length > 1 && message.respond(NOTHING));
    const asked = asker.ask();
    await eventually(() => expect(heard).toHaveLength(1));
    await nats.restart('kill');
    expect(await asked).toEqual({ kind: 'disconnected' });
    await eventually(async () => {
      const again = asker.ask();
      // A client that has only just come back may lose what it answers: time has to go on.
      const stopTime = turn(asker.clock);
      expect(await again.finally(stopTime)).toMatchObject({ kind: 'reply' });
    });
  });
});
