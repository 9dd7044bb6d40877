import { newDelivery, type DeliveryKey, type HostId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { eventually, freshKey, runningJob, sampleJob, useNatsServer } from '@berth/testing';
import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { JetStreamBlobs } from '../src/blobs/jetstream-blobs.js';
import { Broker } from '../src/broker/broker.js';
import { JetStreamChunks } from '../src/chunk-log/jetstream-chunks.js';
import { connectNats } from '../src/connection.js';
import { DeliveryWatch } from '../src/deliveries/delivery-watch.js';
import { JetStreamDeliveries } from '../src/deliveries/jetstream-deliveries.js';
import { JetStreamJobRecords } from '../src/job-records/jetstream-job-records.js';
import { StorageAdmission } from '../src/job-records/storage-admission.js';
import { JobViewFeed } from '../src/job-view/job-view-feed.js';
import { JetStreamReservations } from '../src/idempotency/jetstream-reservations.js';
import { JetStreamLeases } from '../src/leases/jetstream-leases.js';
import { LeaseWatch } from '../src/leases/lease-watch.js';
import { StoreSurvey } from '../src/maintenance/store-survey.js';
import { JobNotifications } from '../src/notifications/job-notifications.js';
import { JetStreamReaderCursors } from '../src/reader-cursors/jetstream-reader-cursors.js';
import { plainCodec } from '../src/snapshots/snapshot-codec.js';
import { SnapshotDirectory } from '../src/snapshots/snapshot-directory.js';
import { SnapshotWriter } from '../src/snapshots/snapshot-writer.js';
import { JetStreamTickets } from '../src/tickets/jetstream-tickets.js';
import { ensure } from './open-broker.js';

jest.setTimeout(60_000);

const LIFE_MS = 3_600_000;
const nats = useNatsServer({ access: 'roles' });
const refused: string[] = [];
const closing: (() => Promise<unknown>)[] = [];

async function openAs(role: 'router' | 'controllers' | 'management'): Promise<Broker> {
  const inboxPrefix = `_INBOX_${role}`;
  const connection = await connectNats({
    url: nats.server.url,
    name: role,
    credentials: { kind: 'nkey', seed: nats.keys.roles[role] },
    inboxPrefix,
    connectWithinMs: 10_000,
    clock: systemClock,
    random: systemRandom,
    onStatus: ({ kind, detail }) => {
      if (kind === 'error') refused.push(detail);
    },
  });
  closing.push(() => connection.close());
  return Broker.over({ connection, inboxPrefix, timeoutMs: 2_000 });
}

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

describe('with the permissions of its role', () => {
  test('the control plane keeps snapshots and the router reads them', async () => {
    const [writing, reading] = [await openAs('controllers'), await openAs('router')];
    await ensure(writing, 'snapshots');
    const shared = { clock: systemClock, bucket: 'hosts', codec: plainCodec<string>() };
    const writer = new SnapshotWriter<string>({ broker: writing, ...shared });
    await writer.put('host-1', 'one', 0);
    const directory = new SnapshotDirectory<string>({
      broker: reading,
      ...shared,
      onError: (error) => refused.push(String(error)),
    });
    closing.push(() => directory.stop());
    await directory.start();
    expect(directory.get('host-1')).toBe('one');
    expect(await directory.getFresh('host-2')).toBeUndefined();
    expect(await writer.keys()).toEqual(['host-1']);
    await writer.delete('host-1');
    await eventually(() => expect(directory.get('host-1')).toBeUndefined());
    expect(refused).toEqual([]);
  });

  test('the router does everything that concerns jobs', async () => {
    const broker = await openAs('router');
    await ensure(broker, 'jobs');
    const key = freshKey();
    const [records, tickets, leases] = [
      new JetStreamJobRecords(broker),
      new JetStreamTickets(broker),
      new JetStreamLeases(broker),
    ];
    const watch = new LeaseWatch({ broker, clock: systemClock, onExpired: () => undefined });
    const feed = new JobViewFeed({ broker, clock: systemClock, from: 'next', onEvent: () => undefined });
    closing.push(
      () => watch.stop(),
      () => feed.stop(),
    );
    watch.start();
    feed.start();
    await watch.caughtUp();
    await feed.whole();
    await new StorageAdmission({ broker, clock: systemClock, onError: (error) => refused.push(String(error)) }).look();

    const notice = new JobNotifications(broker, systemClock).watch(key);
    const created = await records.create(sampleJob(key), LIFE_MS);
    expect(await notice.wait(5_000)).toBe(true);
    notice.dispose();
    await records.replace(runningJob(key), created.kind === 'written' ? created.sequence : 0, LIFE_MS);
    expect((await records.read(key))?.job.state).toBe('IN_PROGRESS');

    await tickets.put({ ...key, attempt: 1, isLowPriority: false, notBeforeMs: 0 }, LIFE_MS);
    const listed = await tickets.list({
      endpointId: key.endpointId,
      isLowPriority: false,
      afterSequence: 0,
      limit: 10,
    });
    await tickets.remove(listed[0]!);
    await tickets.removeFor(key, 1, false);
    for await (const ticket of tickets.allAttempts()) expect(ticket.jobId).not.toBe(key.jobId);

    const lease = { ...key, attempt: 1 };
    await leases.write(lease, { token: 't', hostId: 'h' as HostId }, 0);
    await eventually(() => expect(watch.stateOf(lease)).toBe('live'));
    await leases.remove(lease);

    const cursors = new JetStreamReaderCursors(broker);
    const reader = { ...key, keyId: 'key-1' };
    await cursors.write(reader, { attempt: 1, index: 1 }, 0);
    expect((await cursors.read(reader))?.cursor).toEqual({ attempt: 1, index: 1 });

    const reservations = new JetStreamReservations(broker);
    const named = { endpointId: key.endpointId, name: 'abc' };
    const made = { firstId: key.jobId, size: 1, missing: [0], fingerprint: 'f', createdAtMs: 1 };
    await reservations.create(named, made, LIFE_MS);
    expect((await reservations.read(named))?.reservation).toEqual(made);

    const blobs = new JetStreamBlobs(broker);
    const manifest = await blobs.write(key, { name: 'in', bytes: new Uint8Array(10) }, LIFE_MS);
    expect(await blobs.read(key, manifest)).toHaveLength(10);
    await blobs.removeAll(key);
    const chunks = new JetStreamChunks(broker);
    await chunks.append(key, { attempt: 1, index: 0, body: '1' as never }, LIFE_MS);
    expect(await chunks.read({ ...key, attempt: 1, fromIndex: 0, limit: 5 })).toHaveLength(1);
    await chunks.removeAll(key);

    const job = runningJob(key, { state: 'COMPLETED', endedAtMs: 1, webhook: 'https://example.com' });
    const seen: DeliveryKey[] = [];
    const onError = (error: unknown): void => void refused.push(String(error));
    const deliveryWatch = new DeliveryWatch({ broker, clock: systemClock, onSeen: (each) => seen.push(each), onError });
    closing.push(() => deliveryWatch.stop());
    deliveryWatch.start();
    const deliveries = new JetStreamDeliveries(broker, () => deliveryWatch.fill);
    await deliveries.create(newDelivery(job, 1)!, LIFE_MS);
    expect(await deliveries.read({ ...key, attempt: 1 })).not.toBeNull();
    expect(await deliveries.list(key)).toHaveLength(1);
    await eventually(() => expect([...deliveryWatch.pending()]).toHaveLength(1));
    await new StoreSurvey(broker).purgeEndpoint(key.endpointId);
    expect(await deliveries.list(key)).toEqual([]);
    expect(refused).toEqual([]);
  });
});
