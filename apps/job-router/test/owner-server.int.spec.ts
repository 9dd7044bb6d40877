import { ROUTER_INBOX, ownerSubject, type OwnerVerb, type QuestionOf } from '@berth/contracts';
import { encodeJson, type EndpointId, type JobId, type UnreadableMessage } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { encodeOwnerQuestion, logShard, readOwnerReply } from '@berth/messaging';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { createInbox, type NatsConnection } from '@nats-io/transport-node';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ownerMetrics } from '../src/owner/metrics.js';
import type { OwnerDesk } from '../src/owner/owner-desk.js';
import { OwnerServer } from '../src/owner/owner-server.js';
import { DeskScene, ENDPOINT } from './model/desk-scene.js';

const nats = useNatsServer();
const SHARD = logShard(ENDPOINT);

let scene: DeskScene;
let server: OwnerServer;
let asker: NatsConnection;
let connection: NatsConnection;
let registry: MetricRegistry;
let unreadable: UnreadableMessage[];

beforeEach(async () => {
  scene = await new DeskScene().start();
  await start(scene.desk);
});
afterEach(async () => {
  await server.stop();
});

async function start(desk: Pick<OwnerDesk, 'answer'>): Promise<void> {
  registry = new MetricRegistry();
  unreadable = [];
  connection = await nats.connect({ inboxPrefix: ROUTER_INBOX });
  server = new OwnerServer({
    ...{ desk, connection, clock: systemClock, metrics: ownerMetrics(registry), logger: silentLogger },
    onUnreadable: (message) => unreadable.push(message),
  });
  server.serve(SHARD);
  server.serve(SHARD);
  await connection.flush();
  asker = await nats.connect({ inboxPrefix: ROUTER_INBOX });
}

async function ask<Verb extends OwnerVerb>(verb: Verb, question: QuestionOf<Verb>): Promise<unknown> {
  const body = encodeOwnerQuestion({ endpointId: ENDPOINT, question });
  const message = await asker.request(ownerSubject(SHARD, verb), body, { timeout: 60_000 });
  return readOwnerReply(verb, message.data);
}

interface Sent {
  readonly from?: NatsConnection;
  readonly subject?: string;
  readonly body?: string;
}

/** Sends a message, waits until what was done with it has been counted, and returns what was answered. */
async function send({
  body = QUESTION,
  from = asker,
  subject = ownerSubject(SHARD, 'count'),
}: Sent): Promise<unknown[]> {
  const reply = createInbox(from === asker ? ROUTER_INBOX : '_INBOX_agent.h1');
  const answers: unknown[] = [];
  from.subscribe(reply, {
    callback: (_, message) => {
      answers.push(message.string());
    },
  });
  const before = await counted();
  from.publish(subject, body, { reply });
  await eventually(async () => expect(await counted()).toBe(before + 1));
  // Whatever was sent before this is there.
  await connection.flush();
  await from.flush();
  return answers;
}

const QUESTION = encodeOwnerQuestion({ endpointId: ENDPOINT, question: {} });

/** How many questions have been counted. */
async function counted(): Promise<number> {
  const lines = (await registry.text())
    .split('\n')
    .filter((line) => line.startsWith('berth_router_owner_answers_total{'));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

const told = async (verb: string, outcome: string): Promise<string> =>
  (await registry.text()).split('\n').find((line) => line.includes(`verb="${verb}",outcome="${outcome}"`)) ?? '';

describe('a question by message', () => {
  test('is answered as one by call', async () => {
    const jobId = await scene.submit();
    expect(await ask('count', {})).toMatchObject({ value: { kind: 'answer', answer: { inQueue: 1 } } });
    const command = { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId } as const;
    expect(await ask('perform', { command })).toMatchObject({ value: { answer: { kind: 'job', state: 'CANCELLED' } } });
    expect(await ask('find', { jobId, watcher: { router: 'r2', news: 'any' } })).toMatchObject({
      value: { answer: { jobId, state: 'CANCELLED', output: null } },
    });
    expect(await told('perform', 'answered')).toMatch(/ 1$/);
    expect(await send({})).toHaveLength(1);
  });

  test('is refused where somebody has to look at the log first', async () => {
    scene.model.putGarbage(ENDPOINT);
    expect(await ask('count', {})).toEqual({ kind: 'value', value: { kind: 'refused', reason: 'stopped' } });
  });

  test('is not answered by who does not know', async () => {
    scene.isTrusted = false;
    expect(await send({})).toEqual([]);
    expect(await told('count', 'silent')).toMatch(/ 1$/);
  });

  test('finds nobody where nobody owns the shard', async () => {
    server.leave(SHARD);
    // A question that the broker gives to whoever has just left is answered by nobody.
    await connection.flush();
    await eventually(() => expect(ask('count', {})).rejects.toThrow('no responders'));
  });

  test('is told that its owner is busy where its asker has too many under way', async () => {
    const held = Promise.withResolvers<void>();
    await server.stop();
    await start({ answer: () => held.promise.then(() => ({ kind: 'answer', answer: { inQueue: 0 } })) as never });
    const asked = Array.from({ length: 8_192 }, () => ask('count', {}));
    await eventually(() => expect(server.inFlight).toBe(8_192));
    expect(await ask('count', {})).toMatchObject({ value: { kind: 'refused', reason: 'busy' } });
    const other = await nats.connect({ inboxPrefix: ROUTER_INBOX });
    const others = other.request(ownerSubject(SHARD, 'count'), QUESTION, { timeout: 60_000 });
    await eventually(() => expect(server.inFlight).toBe(8_193));
    held.resolve();
    await Promise.all([...asked, others]);
    await eventually(() => expect(server.inFlight).toBe(0));
  });

  test('whose answer is larger than the broker lets through is told to come again, and it is counted', async () => {
    const answer = { entries: ['x'.repeat(asker.info?.max_payload ?? 0)], through: null };
    await server.stop();
    await start({ answer: () => Promise.resolve({ kind: 'answer', answer }) as never });
    const query = { before: null, limit: 1, statuses: [], alsoIds: [] };
    expect(await ask('list', query)).toMatchObject({ value: { kind: 'refused', reason: 'busy' } });
    expect(await told('list', 'too-large')).toMatch(/ 1$/);
  });

  test('that cannot be answered for a fault of ours is silence, and the next one is heard', async () => {
    await server.stop();
    let asked = 0;
    await start({
      answer: () => {
        asked += 1;
        return asked === 1 ? Promise.reject(new Error('a fault')) : scene.desk.answer(ENDPOINT, 'count', {});
      },
    } as never);
    expect(await send({})).toEqual([]);
    expect(await ask('count', {})).toMatchObject({ kind: 'value' });
    expect(await told('count', 'failed')).toMatch(/ 1$/);
  });
});

describe('a message that is no question', () => {
  const good = { endpointId: ENDPOINT, question: { jobId: 'j1' as JobId } };
  const frame = (body: unknown): string => JSON.stringify({ v: 1, body });

  test.each([
    ['no JSON', 'describe', '{'],
    ['of another version', 'describe', JSON.stringify({ v: 2, body: good })],
    ['without an id', 'describe', frame({ ...good, question: { jobId: 'a b' } })],
    ['of a verb that nobody knows', 'explain', frame(good)],
    ['named like what every object has', 'toString', frame(good)],
    ['of too many renewals', 'renew', frame({ ...good, question: { proofs: Array(513).fill({}) } })],
    ['of a list without end', 'list', frame({ ...good, question: { before: null, limit: 1e9, statuses: [] } })],
    ['of a command that nobody knows', 'perform', frame({ ...good, question: { command: { kind: 'delete' } } })],
    ['of an attempt that is no number', 'hold', frame({ ...good, question: { proof: { attempt: '1' }, chunk: null } })],
  ])('%s is not answered, but noted', async (_, verb, body) => {
    expect(await send({ subject: `shard.${SHARD}.${verb}`, body })).toEqual([]);
    expect(unreadable).toMatchObject([{ place: 'owner questions', key: `shard.${SHARD}.${verb}` }]);
    expect(await ask('count', {})).toMatchObject({ kind: 'value' });
  });

  test('of an endpoint of another shard is not answered', async () => {
    const names = Array.from({ length: 100 }, (_, at) => `e${at}` as EndpointId);
    const endpointId = names.find((name) => logShard(name) !== SHARD) ?? ENDPOINT;
    expect(await send({ body: encodeOwnerQuestion({ endpointId, question: {} }) })).toEqual([]);
    expect(unreadable).toMatchObject([{ reason: 'its endpoint is of another shard' }]);
  });

  test('whose answer would go to somebody who is no router does nothing', async () => {
    const stranger = await nats.connect({ inboxPrefix: '_INBOX_agent.h1' });
    const jobId = await scene.submit();
    const command = { kind: 'cancel', sentAtMs: scene.clock.nowMs(), jobId } as const;
    const body = encodeOwnerQuestion({ endpointId: ENDPOINT, question: { command } });
    expect(await send({ from: stranger, subject: ownerSubject(SHARD, 'perform'), body })).toEqual([]);
    expect(unreadable).toMatchObject([{ reason: 'its answer may not go there: foreign' }]);
    expect(await scene.find(jobId)).toMatchObject({ state: 'IN_QUEUE' });
  });
});

test('whoever stops hears nothing more, and answers what it has heard', async () => {
  const held = Promise.withResolvers<void>();
  await server.stop();
  await start({ answer: () => held.promise.then(() => ({ kind: 'answer', answer: encodeJson(1) })) as never });
  const asked = ask('count', {});
  await eventually(() => expect(server.inFlight).toBe(1));
  const stopped = server.stop();
  held.resolve();
  await stopped;
  expect(await asked).toBeDefined();
  await eventually(() => expect(ask('count', {})).rejects.toThrow('no responders'));
});
