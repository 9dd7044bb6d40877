import { systemClock } from '@berth/lifecycle';
import { ManualClock, eventually, freshKey, sampleJob, useNatsServer } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { JetStreamJobRecords } from '../src/job-records/jetstream-job-records.js';
import { JobNotifications } from '../src/notifications/job-notifications.js';
import { JetStreamTickets, type WaitingTicket } from '../src/tickets/jetstream-tickets.js';
import { ensure, openBroker } from './open-broker.js';

const LIFE_MS = 3_600_000;
const nats = useNatsServer();
let broker: Broker;

beforeAll(async () => {
  broker = await openBroker(nats);
  await ensure(broker, 'jobs');
});
afterAll(() => broker.connection.close());

describe('notifications of a job', () => {
  test('a write after the watch began ends the wait', async () => {
    const key = freshKey();
    const watch = new JobNotifications(broker, systemClock).watch(key);
    const waited = watch.wait(10_000);
    await new JetStreamJobRecords(broker).create(sampleJob(key), LIFE_MS);
    expect(await waited).toBe(true);
    watch.dispose();
  });

  test('a write between two waits is not missed, and is told once', async () => {
    const key = freshKey();
    const clock = new ManualClock();
    const watch = new JobNotifications(broker, clock).watch(key);
    await new JetStreamJobRecords(broker).create(sampleJob(key), LIFE_MS);
    await broker.connection.flush();
    expect(await watch.wait(0)).toBe(true);
    const second = watch.wait(1_000);
    await clock.advance(1_000);
    expect(await second).toBe(false);
    watch.dispose();
  });

  test.each([
    ['its end', { state: 'FAILED' } as const],
    ['its purge', { expiresAtMs: 0 }],
  ])('a watch of the end hears of %s, and of nothing before', async (_what, end) => {
    const key = freshKey();
    const clock = new ManualClock();
    const records = new JetStreamJobRecords(broker);
    const notifications = new JobNotifications(broker, clock);
    const watch = notifications.watch(key, 'end');
    const created = await records.create(sampleJob(key), LIFE_MS);
    notifications.ring(key);
    await broker.connection.flush();
    const early = watch.wait(1_000);
    await clock.advance(1_000);
    expect(await early).toBe(false);
    const late = watch.wait(1_000);
    await records.replace(sampleJob(key, end), created.kind === 'written' ? created.sequence : 0, LIFE_MS);
    expect(await late).toBe(true);
    watch.dispose();
  });

  test('other jobs, an abort and a disposal end no wait as if the job had changed', async () => {
    const key = freshKey();
    const clock = new ManualClock();
    const notifications = new JobNotifications(broker, clock);
    const watch = notifications.watch(key);
    await new JetStreamJobRecords(broker).create(sampleJob({ ...freshKey(), endpointId: key.endpointId }), LIFE_MS);
    await broker.connection.flush();
    const caller = new AbortController();
    const aborted = watch.wait(10_000, caller.signal);
    caller.abort();
    expect(await aborted).toBe(false);
    const disposed = watch.wait(10_000);
    watch.dispose();
    expect(await disposed).toBe(false);
    expect(clock.waiting).toBe(0);
  });

  test('a doorbell rings for new tickets of its own endpoint until it is taken down', async () => {
    const [mine, other] = [freshKey(), freshKey()];
    const tickets = new JetStreamTickets(broker);
    const put = (key: typeof mine, isLowPriority = false): Promise<void> =>
      tickets.put({ ...key, attempt: 1, isLowPriority, notBeforeMs: 0 }, LIFE_MS);
    let rung = 0;
    const takeDown = new JobNotifications(broker, systemClock).onTicket(mine.endpointId, () => {
      rung += 1;
    });
    await put(other);
    await put(mine);
    await put({ ...freshKey(), endpointId: mine.endpointId }, true);
    await eventually(() => expect(rung).toBe(2));
    await put(mine);
    takeDown();
    await put({ ...freshKey(), endpointId: mine.endpointId });
    await broker.connection.flush();
    expect(rung).toBe(2);
  });
});

describe('all tickets that wait', () => {
  test('are told with endpoint, job, attempt and priority', async () => {
    const tickets = new JetStreamTickets(broker);
    const keys = Array.from({ length: 20 }, () => freshKey());
    const wanted: WaitingTicket[] = keys.map((key, at) => ({ ...key, attempt: at + 1, isLowPriority: at % 2 === 1 }));
    for (const ticket of wanted) await tickets.put({ ...ticket, notBeforeMs: 0 }, LIFE_MS);
    const [gone] = wanted;
    await tickets.removeFor(gone!, gone!.attempt, gone!.isLowPriority);
    const told: WaitingTicket[] = [];
    for await (const ticket of tickets.allAttempts()) told.push(ticket);
    const mine = told.filter(({ jobId }) => keys.some((key) => key.jobId === jobId));
    const byJob = (a: WaitingTicket, b: WaitingTicket): number => (a.jobId < b.jobId ? -1 : 1);
    expect(mine.sort(byJob)).toEqual(wanted.slice(1).sort(byJob));
  });
});
