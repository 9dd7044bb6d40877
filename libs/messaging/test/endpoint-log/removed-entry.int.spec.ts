import type { EndpointId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { ManualClock, eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Broker } from '../../src/broker/broker.js';
import { headersOf } from '../../src/broker/headers.js';
import { NatsLogBroker } from '../../src/endpoint-log/nats-log-broker.js';
import { logShard } from '../../src/topology/shards.js';
import { logSubject } from '../../src/topology/subjects.js';
import { ensure, openBroker } from '../open-broker.js';
import { QUIET } from './log-writer.js';
import { OwnerScene, endpointCalled } from './owner-scene.js';

const nats = useNatsServer();
let broker: Broker;
let logs: NatsLogBroker;

beforeAll(async () => {
  broker = await openBroker(nats);
  await ensure(broker, 'jobs');
  logs = new NatsLogBroker({ broker, clock: systemClock });
});
afterAll(() => broker.connection.close());

/** Somebody else's message; returns where it lies. */
async function litter(endpointId: EndpointId): Promise<number> {
  const answer = await broker.request(logSubject(endpointId), 'litter');
  return (JSON.parse(answer.string()) as { readonly seq: number }).seq;
}

const STOPPED_MS = 60_000;

test('a stopped endpoint goes on, with all that it had, when the message behind its log is removed', async () => {
  const clock = new ManualClock();
  const scene = new OwnerScene(logs, { clock, routerId: 'r1' });
  const endpointId = endpointCalled('stopped');
  await scene.take(endpointId);
  const jobId = await scene.submit(endpointId);
  const sequence = await litter(endpointId);
  const cancel = { kind: 'cancel', sentAtMs: clock.nowMs(), jobId } as const;
  expect(await scene.perform(endpointId, cancel)).toEqual({ kind: 'unsettled' });
  await eventually(() => expect(scene.kindsOf(endpointId)).toEqual(['opened', 'closed']));
  expect(await scene.status(endpointId, jobId)).toEqual({ kind: 'refused', reason: 'stopped' });
  await logs.removeEntry(endpointId, sequence);
  expect(await scene.status(endpointId, jobId)).toEqual({ kind: 'refused', reason: 'stopped' });
  await clock.advance(STOPPED_MS);
  expect(await scene.status(endpointId, jobId)).toMatchObject({ answer: { state: 'IN_QUEUE' } });
  expect(await scene.perform(endpointId, { ...cancel, sentAtMs: clock.nowMs() })).toMatchObject({ kind: 'settled' });
});

test('an owner that has the endpoint open, and has not met the message, never hears of it', async () => {
  const clock = new ManualClock();
  const scene = new OwnerScene(logs, { clock, routerId: 'r1' });
  const endpointId = endpointCalled('open');
  await scene.take(endpointId);
  const jobId = await scene.submit(endpointId);
  await logs.removeEntry(endpointId, await litter(endpointId));
  expect(await scene.perform(endpointId, { kind: 'cancel', sentAtMs: clock.nowMs(), jobId })).toMatchObject({
    kind: 'settled',
  });
  expect(scene.kindsOf(endpointId)).toEqual(['opened']);
});

test.each(['stop', 'kill'] as const)(
  'what the next append must expect is the batch before the removed one, also behind a broker’s %s',
  async (how) => {
    const endpointId = endpointCalled('expect');
    const append = async (after: number): Promise<string> => {
      const batch = { endpointId, after, batchId: `after-${after}`, index: QUIET, facts: new Uint8Array([1]) };
      return (await logs.append(batch)).kind;
    };
    expect(await append(0)).toBe('stored');
    const first = (await logs.readNext(endpointId, 0))?.sequence ?? 0;
    const sequence = await litter(endpointId);
    await logs.removeEntry(endpointId, sequence);
    await nats.restart(how);
    await eventually(async () => expect(await logs.readNext(endpointId, first)).toBeNull());
    expect([await append(sequence), await append(0), await append(first)]).toEqual(['conflict', 'conflict', 'stored']);
  },
);

test.each([
  ['litter', {}, null],
  ['a batch of a later version', { 'Berth-Format': '2' }, 2],
  ['what no version would write', { 'Berth-Format': '2.5' }, null],
])('%s is told from the outside', async (_, headers, format) => {
  const endpointId = endpointCalled('outside');
  const answer = await broker.request(logSubject(endpointId), 'litter', headersOf(headers));
  const { seq } = JSON.parse(answer.string()) as { readonly seq: number };
  const entry = { sequence: seq, unreadable: expect.any(String) };
  expect(await logs.inspect(endpointId, seq)).toEqual({ entry, bytes: 6, format });
});

test('a sequence that is another endpoint’s, or nobody’s any more, is left alone', async () => {
  const endpointId = endpointCalled('one');
  let other = endpointCalled('two');
  while (logShard(other) !== logShard(endpointId)) other = endpointCalled('two');
  await litter(endpointId);
  const sequence = await litter(other);
  expect(await logs.inspect(endpointId, sequence)).toBeNull();
  await expect(logs.removeEntry(endpointId, sequence)).rejects.toThrow(RangeError);
  expect(await logs.readNext(other, 0)).toHaveProperty('sequence', sequence);
  await logs.removeEntry(other, sequence);
  await expect(logs.removeEntry(other, sequence)).rejects.toThrow(RangeError);
  expect(await logs.readNext(other, 0)).toBeNull();
});
