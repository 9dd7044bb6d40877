import { systemClock } from '@berth/lifecycle';
import { eventually, freshKey, runningJob, sampleJob, useNatsServer } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { BROKER_HEADERS } from '../src/broker/headers.js';
import { tellStream } from '../src/broker/tell-stream.js';
import type { TailMessage } from '../src/broker/tail-session.js';
import { JetStreamJobRecords } from '../src/job-records/jetstream-job-records.js';
import { STREAMS, recordNoticeSubject, recordSubject } from '../src/topology/subjects.js';
import { ensure, openBroker } from './open-broker.js';

const nats = useNatsServer();
let broker: Broker;
let records: JetStreamJobRecords;

beforeAll(async () => {
  broker = await openBroker(nats);
  await ensure(broker, 'jobs');
  records = new JetStreamJobRecords(broker);
});
afterAll(() => broker.connection.close());

const LIFE_MS = 3_600_000;

/** Every message that `EV` holds of a subject, oldest first: what is sourced is never replaced there. */
async function eventsOf(subject: string): Promise<TailMessage[]> {
  const events: TailMessage[] = [];
  const { state } = await broker.manager.streams.info(STREAMS.events);
  for (let sequence = state.first_seq; sequence <= state.last_seq; sequence += 1) {
    const message = await broker.manager.streams.getMessage(STREAMS.events, { seq: sequence });
    if (message?.subject === subject) {
      events.push({ subject, sequence, headers: message.header, body: message.data });
    }
  }
  return events;
}

describe('a record that expires', () => {
  test('leaves the record and the expiry marker in EV, and is told on the notice subject', async () => {
    const key = freshKey();
    const notices: string[] = [];
    const subscription = broker.connection.subscribe(recordNoticeSubject(key), {
      callback: (_error, message) => {
        notices.push(message.headers?.get(BROKER_HEADERS.markerReason) ?? '');
      },
    });
    await records.create(sampleJob(key), 1_000);
    const events = await eventually(async () => {
      const found = await eventsOf(recordSubject(key));
      expect(found).toHaveLength(2);
      return found;
    });
    subscription.unsubscribe();

    expect(events[0]?.headers?.get('Berth-State')).toBe('IN_QUEUE');
    expect(events[0]?.body.byteLength).toBeGreaterThan(100);
    expect(events[1]?.headers?.get(BROKER_HEADERS.markerReason)).toBe('MaxAge');
    expect(events[1]?.body.byteLength).toBe(0);
    // A marker asks for a rollup of its subject, which the sourcing stream does not do: both are still there.
    expect(events[1]?.headers?.get(BROKER_HEADERS.rollup)).toBe('sub');
    expect(notices).toEqual(['', 'MaxAge']);
  });

  test('every transition is kept in EV with its place in the record stream', async () => {
    const key = freshKey();
    const created = await records.create(sampleJob(key), LIFE_MS);
    const first = created.kind === 'written' ? created.sequence : 0;
    await eventually(async () => expect(await eventsOf(recordSubject(key))).toHaveLength(1));
    const replaced = await records.replace(runningJob(key), first, LIFE_MS);
    const second = replaced.kind === 'written' ? replaced.sequence : 0;
    const events = await eventually(async () => {
      const found = await eventsOf(recordSubject(key));
      expect(found).toHaveLength(2);
      return found;
    });
    const sources = events.map(({ headers }) => headers?.get(BROKER_HEADERS.streamSource).split(' ').slice(0, 2));
    const stream = STREAMS.records(key.jobId);
    expect(sources).toEqual([
      [stream, `${first}`],
      [stream, `${second}`],
    ]);
  });

  test('the last state of each job is told from the record stream by headers alone', async () => {
    const key = freshKey();
    const created = await records.create(sampleJob(key), LIFE_MS);
    await records.replace(runningJob(key), created.kind === 'written' ? created.sequence : 0, LIFE_MS);
    const told: TailMessage[] = [];
    await tellStream({
      broker,
      clock: systemClock,
      stream: STREAMS.records(key.jobId),
      onMessage: (message) => told.push(message),
    });
    const mine = told.filter(({ subject }) => subject === recordSubject(key));
    expect(mine).toHaveLength(1);
    expect(mine[0]?.headers?.get('Berth-State')).toBe('IN_PROGRESS');
    expect(mine[0]?.body.byteLength).toBe(0);
  });
});
