import type { Job } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually, freshKey, runningJob, sampleJob, useNatsServer } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { headersOf } from '../src/broker/headers.js';
import { JobEventSource, type EventBatch, type EventPosition } from '../src/job-history/job-event-source.js';
import { surveyRecords } from '../src/job-history/record-survey.js';
import { JetStreamJobRecords } from '../src/job-records/jetstream-job-records.js';
import { recordHeaders } from '../src/job-records/record-headers.js';
import { JOB_SHARDS } from '../src/topology/shards.js';
import { ensure, openBroker } from './open-broker.js';

// Real servers on a machine that may be busy with other tests: a passing test is far quicker.
jest.setTimeout(60_000);

const LIFE_MS = 3_600_000;
const nats = useNatsServer();
let broker: Broker;
let records: JetStreamJobRecords;

beforeEach(async () => {
  broker = await openBroker(nats, { timeoutMs: 2_000 });
  await ensure(broker, 'jobs');
  records = new JetStreamJobRecords(broker);
  await hearEveryShard();
});
afterEach(() => broker.connection.close());

/** A stream that has just been made hears its sources a moment later, and of a record then only the last version. */
async function hearEveryShard(): Promise<void> {
  const isHeard = async (): Promise<void> => {
    for (let shard = 0; shard < JOB_SHARDS; shard += 1) broker.connection.publish(`job.${shard}.warm.up`, '');
    const { sources = [], state } = await broker.manager.streams.info('EV', { subjects_filter: 'job.*.warm.up' });
    expect(sources).toHaveLength(JOB_SHARDS);
    expect(Object.keys(state.subjects ?? {})).toHaveLength(JOB_SHARDS);
  };
  await eventually(isHeard);
  await eventually(async () => {
    const { state } = await broker.manager.streams.info('EV');
    await broker.manager.streams.purge('EV');
    expect(state.messages).toBe(0);
  });
}

/** Jobs that were submitted and taken; a version that is written over at once may never become an event. */
async function live(count: number): Promise<readonly Job[]> {
  const keys = Array.from({ length: count }, freshKey);
  const created = await Promise.all(keys.map((key) => records.create(sampleJob(key), LIFE_MS)));
  await stored(count);
  const taken = keys.map((key) => runningJob(key));
  await Promise.all(
    taken.map((job, index) => {
      const outcome = created[index];
      if (outcome?.kind !== 'written') throw new Error('the job was not created');
      return records.replace(job, outcome.sequence, LIFE_MS);
    }),
  );
  await stored(2 * count);
  return taken;
}

const stored = (count: number): Promise<void> =>
  eventually(async () => expect((await broker.manager.streams.info('EV')).state.messages).toBe(count));

const idsOf = (batch: EventBatch): string[] =>
  batch.events.flatMap(({ event }) => (event.kind === 'changed' ? `${event.job.id} ${event.job.state}` : event.kind));

const endOf = (batch: EventBatch): EventPosition => {
  const last = batch.events.at(-1);
  if (last === undefined) throw new Error('the batch is empty');
  return last.position;
};

describe('the events of jobs', () => {
  test('are told whole, once each and in order, page by page', async () => {
    const jobs = await live(5);
    const source = new JobEventSource({ broker, countMax: 4 });
    const told: string[] = [];
    let after: EventPosition | null = null;
    for (let isLast = false; !isLast;) {
      const batch: EventBatch = await source.read(after);
      expect(batch.isInterrupted).toBe(false);
      told.push(...idsOf(batch));
      after = endOf(batch);
      ({ isLast } = batch);
    }
    expect(told.toSorted()).toEqual(jobs.flatMap(({ id }) => [`${id} IN_PROGRESS`, `${id} IN_QUEUE`]).toSorted());
    expect(await source.read(after)).toEqual({ events: [], isLast: true, isInterrupted: false });
  });

  test('come in small pages where they are large', async () => {
    await live(3);
    const source = new JobEventSource({ broker, bytesMax: 2_000 });
    const first = await source.read(null);
    expect(first.isLast).toBe(false);
    const second = await source.read(endOf(first));
    expect(second.events.length).toBeGreaterThan(0);
    expect(second.isLast).toBe(false);
  });

  test('tell that a record has expired, and what they cannot read', async () => {
    const key = freshKey();
    await records.create(sampleJob(key), 1_000);
    await stored(2);
    broker.connection.publish('job.0.ep.odd', '{"v":99}', { headers: headersOf(recordHeaders(sampleJob(key))) });
    await stored(3);
    const { events } = await new JobEventSource({ broker }).read(null);
    expect(events.map(({ event }) => event)).toMatchObject([
      { kind: 'changed', job: sampleJob(key) },
      { kind: 'removed', key },
      { kind: 'unreadable', subject: 'job.0.ep.odd', reason: expect.stringContaining('version 99') },
    ]);
  });

  test.each<[string, () => Promise<unknown>]>([
    ['were dropped before they were read', () => broker.manager.streams.purge('EV', { keep: 1 })],
    ['are all gone', () => broker.manager.streams.purge('EV')],
    ['stand in a stream that was made anew', () => remake()],
  ])('that %s are no quiet gap', async (_what, lose) => {
    await live(2);
    const source = new JobEventSource({ broker, countMax: 2 });
    const after = endOf(await source.read(null));
    await lose();
    const batch = await source.read(after);
    expect(batch.isInterrupted).toBe(true);
    const next = batch.events.length === 0 ? null : endOf(batch);
    expect((await source.read(next)).isInterrupted).toBe(false);
  });

  async function remake(): Promise<void> {
    await broker.manager.streams.delete('EV');
    await ensure(broker, 'jobs');
    await eventually(async () => expect((await broker.manager.streams.info('EV')).state.messages).toBeGreaterThan(1));
  }

  test('cannot be read while there is no broker, which is said', async () => {
    await nats.server.stop();
    await expect(new JobEventSource({ broker }).read(null)).rejects.toMatchObject({ code: 'service-unavailable' });
    await nats.restart();
  });
});

test('every record that is wanted is found by its headers', async () => {
  const jobs = await live(20);
  const isWanted = ({ jobId, state }: { jobId: string; state: string }): boolean =>
    state === 'IN_PROGRESS' && jobs.some(({ id }) => id === jobId);
  const found: string[] = [];
  const survey = surveyRecords({ broker, clock: systemClock, isWanted }, new AbortController().signal);
  for await (const shard of survey) found.push(...shard.map(({ jobId }) => jobId));
  expect(found.toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
});
