import { ROUTER_INBOX, ownerSubjects, type OwnerReply } from '@berth/contracts';
import type { EndpointId, JobId, PlatformError, UnreadableMessage } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { Broker, OwnerRequests, connectNats, encodeOwnerReply, logShard, readOwnerQuestion } from '@berth/messaging';
import { MetricRegistry } from '@berth/telemetry';
import { ManualClock, SeededRandom, eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import type { Msg } from '@nats-io/transport-node';
import { afterEach, describe, expect, test } from '@jest/globals';
import { questionMetrics } from './metrics.js';
import { NatsOwners, type LocalOwner, type QuestionBounds } from './nats-owners.js';

const nats = useNatsServer();

const closings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0)) await close();
});

const question = { jobId: 'job-1' as JobId, watcher: null };
const nothing: OwnerReply<null> = { kind: 'answer', answer: null };
const busy = { kind: 'refused', reason: 'busy' } as const;

type Counts = Readonly<Record<string, number>>;

/** A router that asks, with a clock of its own, about an endpoint of its own. */
async function openAsker(local: LocalOwner = () => Promise.resolve('silent'), bounds?: QuestionBounds) {
  const connection = await connectNats({
    url: nats.server.url,
    name: 'asker',
    credentials: { kind: 'none' },
    inboxPrefix: ROUTER_INBOX,
    connectWithinMs: 10_000,
    clock: systemClock,
    random: systemRandom,
  });
  closings.push(() => connection.close());
  const unreadable: UnreadableMessage[] = [];
  const onUnreadable = (message: UnreadableMessage): void => void unreadable.push(message);
  const broker = await Broker.over({ connection, inboxPrefix: ROUTER_INBOX, onUnreadable });
  const clock = new ManualClock();
  const metrics = questionMetrics(new MetricRegistry());
  const requests = new OwnerRequests(broker, clock);
  const owners = new NatsOwners({ local, requests, clock, random: new SeededRandom(1), metrics, bounds });
  const endpointId = systemRandom.id(20) as EndpointId;
  const counted = async (of: 'questions' | 'tries'): Promise<Counts> => {
    const { values } = await metrics[of].get();
    return Object.fromEntries(values.map(({ labels, value }) => [`${Object.values(labels).join(' ')}`, value]));
  };
  const seen = (of: 'questions' | 'tries', counts: Counts): Promise<void> =>
    eventually(async () => expect(await counted(of)).toEqual(counts));
  return { owners, endpointId, clock, counted, seen, unreadable };
}

/** A router that hears the questions about one endpoint and says what the test has it say. */
async function composeOwner(endpointId: EndpointId, says: (heard: number) => object | string | null) {
  const connection = await nats.connect();
  closings.push(() => connection.close());
  const heard: Msg[] = [];
  connection.subscribe(ownerSubjects(logShard(endpointId)), {
    callback: (_, message) => {
      const asked = readOwnerQuestion(message.data);
      if (asked.kind !== 'value' || asked.value.endpointId !== endpointId) return;
      heard.push(message);
      const reply = says(heard.length);
      if (reply === null) return;
      message.respond(typeof reply === 'string' ? reply : encodeOwnerReply(reply as OwnerReply<unknown>));
    },
  });
  await connection.flush();
  return { connection, heard };
}

const failure = (asked: Promise<unknown>): Promise<PlatformError> =>
  asked.then(
    () => Promise.reject(new Error('it was answered')),
    (error: unknown) => error as PlatformError,
  );

/** Longer than any pause between two tries. */
const PAUSE_MS = 500;

describe('a question to the owner of a log', () => {
  test('is answered in this process where its desk knows, and reaches no broker', async () => {
    const asker = await openAsker(() => Promise.resolve(nothing as never));
    const owner = await composeOwner(asker.endpointId, () => busy);
    expect(await asker.owners.ask(asker.endpointId, 'find', question)).toBeNull();
    expect(owner.heard).toEqual([]);
    await asker.seen('questions', { 'find here': 1 });
    expect(asker.clock.waiting).toBe(0);
  });

  test('is answered by the router that owns the log where the desk here is silent', async () => {
    const asker = await openAsker();
    await composeOwner(asker.endpointId, () => nothing);
    expect(await asker.owners.ask(asker.endpointId, 'find', question)).toBeNull();
    await asker.seen('questions', { 'find elsewhere': 1 });
    await asker.seen('tries', {});
  });

  test('is asked again while nobody listens, and answered as soon as somebody does', async () => {
    const asker = await openAsker();
    const asked = asker.owners.ask(asker.endpointId, 'find', question);
    await asker.seen('tries', { 'find no-responders': 1 });
    await asker.clock.advance(PAUSE_MS);
    await asker.seen('tries', { 'find no-responders': 2 });
    await composeOwner(asker.endpointId, () => nothing);
    await asker.clock.advance(PAUSE_MS);
    expect(await asked).toBeNull();
  });

  test('is given up after eight seconds in which nobody listened', async () => {
    const asker = await openAsker();
    const failed = failure(asker.owners.ask(asker.endpointId, 'find', question));
    let isOver = false;
    void failed.then(() => (isOver = true));
    await eventually(async () => {
      await asker.clock.advance(PAUSE_MS / 5);
      expect(isOver).toBe(true);
    });
    expect(await failed).toMatchObject({ code: 'service-unavailable', retryAfterSeconds: 1 });
    await asker.seen('questions', { 'find unanswered': 1 });
    expect(asker.clock.waiting).toBe(0);
  });

  test('is asked again after a second and a half of silence', async () => {
    const asker = await openAsker();
    const owner = await composeOwner(asker.endpointId, (heard) => (heard < 3 ? null : nothing));
    const asked = asker.owners.ask(asker.endpointId, 'find', question);
    for (const heard of [1, 2]) {
      await eventually(() => expect(owner.heard).toHaveLength(heard));
      await asker.clock.advance(1_500);
      await asker.seen('tries', { 'find silent': heard });
      await asker.clock.advance(PAUSE_MS);
    }
    expect(await asked).toBeNull();
    expect(owner.heard.map(({ data }) => Buffer.from(data).toString())).toEqual(
      Array(3).fill(Buffer.from(owner.heard[0]?.data ?? []).toString()),
    );
  });

  test('is asked again of an owner that is busy, and told so when it stays busy', async () => {
    const asker = await openAsker();
    let isBusy = true;
    const owner = await composeOwner(asker.endpointId, () => (isBusy ? busy : nothing));
    const asked = asker.owners.ask(asker.endpointId, 'find', question);
    await asker.seen('tries', { 'find busy': 1 });
    isBusy = false;
    await asker.clock.advance(PAUSE_MS);
    expect(await asked).toBeNull();

    isBusy = true;
    const failed = failure(asker.owners.ask(asker.endpointId, 'find', question));
    let isOver = false;
    void failed.then(() => (isOver = true));
    for (let tries = 2; !isOver; tries += 1) {
      await eventually(async () => expect(isOver || (await asker.counted('tries'))['find busy'] === tries).toBe(true));
      await asker.clock.advance(PAUSE_MS);
    }
    expect((await failed).message).toMatch(/^Too many requests wait for the jobs of this endpoint/);
    expect(owner.heard.length).toBeGreaterThan(15);
  });

  test('is not asked again where the log is stopped', async () => {
    const asker = await openAsker();
    const owner = await composeOwner(asker.endpointId, () => ({ kind: 'refused', reason: 'stopped' }));
    expect(await failure(asker.owners.ask(asker.endpointId, 'find', question))).toMatchObject({
      code: 'service-unavailable',
      retryAfterSeconds: 60,
      message: expect.stringContaining('stand still until the operator'),
    });
    expect(owner.heard).toHaveLength(1);
  });

  test('is not asked again where the room that is left is kept for others', async () => {
    const asker = await openAsker();
    const owner = await composeOwner(asker.endpointId, () => ({ kind: 'refused', reason: 'full' }));
    expect(await failure(asker.owners.ask(asker.endpointId, 'find', question))).toMatchObject({
      code: 'service-unavailable',
      retryAfterSeconds: 10,
      message: expect.stringContaining('The store of jobs is almost full'),
    });
    expect(owner.heard).toHaveLength(1);
  });

  test('has the word of the owner, whatever a silent former one does', async () => {
    const asker = await openAsker();
    const former = await composeOwner(asker.endpointId, () => null);
    const owner = await composeOwner(asker.endpointId, () => nothing);
    expect(await asker.owners.ask(asker.endpointId, 'find', question)).toBeNull();
    // The former one has a connection of its own, so it may hear the question after the answer has come.
    await eventually(() => expect([former.heard.length, owner.heard.length]).toEqual([1, 1]));
  });

  test('has the first word of two that speak', async () => {
    const asker = await openAsker();
    await composeOwner(asker.endpointId, () => nothing);
    await composeOwner(asker.endpointId, () => nothing);
    expect(await asker.owners.ask(asker.endpointId, 'find', question)).toBeNull();
    expect(await asker.owners.ask(asker.endpointId, 'deliveries', { jobId: question.jobId })).toBeNull();
    await asker.seen('tries', {});
  });

  test('is over when its asker gave up, and an answer that comes then is no later question’s', async () => {
    const asker = await openAsker();
    const owner = await composeOwner(asker.endpointId, () => null);
    const gone = new AbortController();
    const failed = failure(asker.owners.ask(asker.endpointId, 'find', question, { signal: gone.signal }));
    await eventually(() => expect(owner.heard).toHaveLength(1));
    gone.abort();
    expect(await failed).toMatchObject({ code: 'service-unavailable' });
    const next = asker.owners.ask(asker.endpointId, 'deliveries', { jobId: question.jobId });
    await eventually(() => expect(owner.heard).toHaveLength(2));
    owner.heard[0]?.respond(encodeOwnerReply(nothing));
    owner.heard[1]?.respond(encodeOwnerReply({ kind: 'answer', answer: [] }));
    expect(await next).toEqual([]);
    await asker.seen('questions', { 'find unwanted': 1, 'deliveries elsewhere': 1 });
  });

  test('is not sent for an asker who is gone already', async () => {
    const asker = await openAsker();
    const owner = await composeOwner(asker.endpointId, () => nothing);
    await failure(asker.owners.ask(asker.endpointId, 'find', question, { signal: AbortSignal.abort() }));
    expect(owner.heard).toEqual([]);
  });

  test('is asked again where the answer cannot be read, which is noted', async () => {
    const asker = await openAsker();
    const owner = await composeOwner(asker.endpointId, (heard) => (heard === 1 ? '{"v":9}' : nothing));
    const asked = asker.owners.ask(asker.endpointId, 'find', question);
    await eventually(() => expect(asker.unreadable).toHaveLength(1));
    await asker.clock.advance(1_500);
    await asker.seen('tries', { 'find silent': 1 });
    await asker.clock.advance(PAUSE_MS);
    expect(await asked).toBeNull();
    expect(owner.heard).toHaveLength(2);
  });

  test('that is held is waited for, and asked of the next owner when the first one dies with it', async () => {
    const asker = await openAsker();
    const first = await composeOwner(asker.endpointId, () => null);
    const wish = { takeId: 't', hostId: 'h', workerId: 'w', slots: 1, secret: 's' } as never;
    const asked = asker.owners.ask(asker.endpointId, 'take', { wish, waitMs: 5_000 }, { heldMs: 5_000 });
    await eventually(() => expect(first.heard).toHaveLength(1));
    await first.connection.close();
    const next = await composeOwner(asker.endpointId, () => ({ kind: 'answer', answer: [] }));
    await asker.clock.advance(6_999);
    await asker.seen('tries', {});
    await asker.clock.advance(1);
    await asker.seen('tries', { 'take silent': 1 });
    await asker.clock.advance(PAUSE_MS);
    expect(await asked).toEqual([]);
    expect(next.heard).toHaveLength(1);
  });

  test('is asked again when the broker was away meanwhile', async () => {
    const asker = await openAsker();
    const owner = await composeOwner(asker.endpointId, (heard) => (heard === 1 ? null : nothing));
    const asked = asker.owners.ask(asker.endpointId, 'find', question);
    await eventually(() => expect(owner.heard).toHaveLength(1));
    await nats.restart('kill');
    await asker.seen('tries', { 'find disconnected': 1 });
    // A client that has only just come back may lose what it answers: time has to go on, and slowly.
    const stopTime = systemClock.every(10, () => void asker.clock.advance(5));
    await asked.finally(stopTime);
    expect(await asked).toBeNull();
  });

  test('that no broker takes is refused with its size', async () => {
    const asker = await openAsker();
    const wish = { takeId: 'x'.repeat(2 * 1024 ** 2) } as never;
    const error = await failure(asker.owners.ask(asker.endpointId, 'take', { wish, waitMs: 0 }));
    expect(error.code).toBe('body-too-large');
    expect(error.message).toMatch(/^The request takes 2097\d{3} bytes among the routers, and the broker takes \d+/);
    await asker.seen('questions', { 'take too-large': 1 });
  });
});

describe('a desk in this process', () => {
  test('that falls silent is followed by the owner elsewhere at once', async () => {
    const { promise, resolve } = Promise.withResolvers<'silent'>();
    const asker = await openAsker(() => promise);
    const owner = await composeOwner(asker.endpointId, () => nothing);
    const asked = asker.owners.ask(asker.endpointId, 'find', question);
    await asker.clock.advance(5_000);
    expect(owner.heard).toEqual([]);
    resolve('silent');
    expect(await asked).toBeNull();
  });

  test('that says nothing at all is given up in time', async () => {
    const asker = await openAsker(() => new Promise(() => undefined));
    const failed = failure(asker.owners.ask(asker.endpointId, 'find', question));
    await asker.clock.advance(8_000);
    expect(await failed).toMatchObject({ code: 'service-unavailable' });
    await asker.seen('questions', { 'find unanswered': 1 });
  });
});

test('more questions than may be under way are refused at once, and those that are held keep no other out', async () => {
  const asker = await openAsker(() => new Promise(() => undefined), { answered: 3, held: 2 });
  const { clock, endpointId, owners } = asker;
  const find = (): Promise<unknown> => owners.ask(endpointId, 'find', question);
  const take = (): Promise<unknown> =>
    owners.ask(endpointId, 'take', { wish: { takeId: 't' } as never, waitMs: 5_000 }, { heldMs: 5_000 });
  const underWay = [take, take, find, find, find].map((ask) => failure(ask()));
  expect(owners.inFlight).toBe(5);
  for (const ask of [take, find]) {
    const error = await failure(ask());
    expect(error).toMatchObject({ code: 'service-unavailable', retryAfterSeconds: 1 });
    expect(error.message).toMatch(/^Too many requests wait here/);
  }
  await asker.seen('questions', { 'take crowded': 1, 'find crowded': 1 });
  await clock.advance(13_000);
  await Promise.all(underWay);
  expect(owners.inFlight).toBe(0);
});
