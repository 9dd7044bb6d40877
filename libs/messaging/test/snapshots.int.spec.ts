import { inParallel, systemClock, systemRandom } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { useNatsServer } from '@berth/testing/servers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Broker } from '../src/broker/broker.js';
import { plainCodec, type SnapshotCodec } from '../src/snapshots/snapshot-codec.js';
import { SnapshotDirectory } from '../src/snapshots/snapshot-directory.js';
import { SnapshotWriter } from '../src/snapshots/snapshot-writer.js';
import { bucketStream } from '../src/topology/buckets.js';
import { ensure, openBroker } from './open-broker.js';

interface Sample {
  readonly name: string;
}

const BUCKET = 'hosts';
const RECOVERY = { deadlineMs: 90_000, intervalMs: 50 };
const codec = plainCodec<Sample>();

const nats = useNatsServer();
let broker: Broker;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  broker = await openBroker(nats, { timeoutMs: 2_000 });
  await ensure(broker, 'snapshots');
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});
afterAll(() => broker.connection.close());

const freshId = (): string => `host-${systemRandom.uuid()}`;
const openWriter = (used: SnapshotCodec<Sample> = codec): SnapshotWriter<Sample> =>
  new SnapshotWriter({ broker, clock: systemClock, bucket: BUCKET, codec: used });

async function openDirectory(): Promise<{ directory: SnapshotDirectory<Sample>; errors: unknown[] }> {
  const errors: unknown[] = [];
  const directory = new SnapshotDirectory<Sample>({
    broker,
    clock: systemClock,
    bucket: BUCKET,
    codec,
    onError: (error) => errors.push(error),
  });
  await directory.start();
  stops.push(() => directory.stop());
  return { directory, errors };
}

describe('a snapshot writer', () => {
  test('writes over whatever is there, or over exactly the revision named', async () => {
    const writer = openWriter();
    const id = freshId();
    expect(await writer.read(id)).toBeNull();
    const first = await writer.put(id, { name: 'a' }, 0);
    expect(await writer.put(id, { name: 'b' }, 0)).toBeNull();
    const second = await writer.put(id, { name: 'c' }, first!);
    expect(await writer.put(id, { name: 'd' }, first!)).toBeNull();
    expect(await writer.read(id)).toEqual({ value: { name: 'c' }, revision: second });
    expect(await writer.put(id, { name: 'e' })).toBeGreaterThan(second!);
  });

  test('deletes exactly the revision named, and names what is left in its place', async () => {
    const writer = openWriter();
    const id = freshId();
    expect(await writer.latest(id)).toEqual({ value: null, isAbsent: true, revision: 0 });
    const first = await writer.put(id, { name: 'a' });
    const second = await writer.put(id, { name: 'b' });
    expect(await writer.delete(id, first!)).toBe(false);
    expect(await writer.latest(id)).toEqual({ value: { name: 'b' }, isAbsent: false, revision: second });
    expect(await writer.delete(id, second!)).toBe(true);
    const { isAbsent, revision } = await writer.latest(id);
    expect([isAbsent, revision > second!]).toEqual([true, true]);
    expect(await writer.put(id, { name: 'c' }, second!)).toBeNull();
    expect(await writer.put(id, { name: 'd' }, revision)).toBeGreaterThan(revision);
  });

  test('deletes, lists what is left, and writes again', async () => {
    const writer = openWriter();
    const [kept, gone] = [freshId(), freshId()];
    await writer.put(kept, { name: 'kept' });
    await writer.put(gone, { name: 'gone' });
    await writer.delete(gone);
    await writer.delete(gone);
    await writer.delete(freshId());
    expect(await writer.read(gone)).toBeNull();
    const keys = await writer.keys();
    expect(keys).toContain(kept);
    expect(keys).not.toContain(gone);
    await writer.put(gone, { name: 'back' });
    expect((await writer.read(gone))?.value).toEqual({ name: 'back' });
  });

  test('values are JSON with a version, as any tool can read them', async () => {
    const id = freshId();
    await openWriter().put(id, { name: 'a' });
    const stored = await broker.manager.streams.getMessage(bucketStream(BUCKET), {
      last_by_subj: `$KV.${BUCKET}.${id}`,
    });
    expect(stored?.json()).toEqual({ v: 1, value: { name: 'a' } });
  });
});

describe('a snapshot directory', () => {
  test('has loaded everything when it has started, and follows every change', async () => {
    const writer = openWriter();
    const [before, after, gone] = [freshId(), freshId(), freshId()];
    await writer.put(before, { name: 'before' });
    await writer.put(gone, { name: 'gone' });
    const { directory } = await openDirectory();
    expect(directory.get(before)).toEqual({ name: 'before' });
    expect(new Map(directory.entries()).get(gone)).toEqual({ name: 'gone' });

    const changes: [string, Sample | null][] = [];
    const stopListening = directory.onChange((key, value) => changes.push([key, value]));
    await writer.put(after, { name: 'after' });
    await writer.put(before, { name: 'changed' });
    await writer.delete(gone);
    await eventually(() =>
      expect(changes).toEqual([
        [after, { name: 'after' }],
        [before, { name: 'changed' }],
        [gone, null],
      ]),
    );
    expect(directory.get(gone)).toBeUndefined();
    expect([...directory.entries()].map(([key]) => key)).not.toContain(gone);
    stopListening();
    await writer.put(after, { name: 'again' });
    await eventually(() => expect(directory.get(after)).toEqual({ name: 'again' }));
    expect(changes).toHaveLength(3);
  });

  test('loads more than one pull brings', async () => {
    const writer = openWriter();
    const ids = Array.from({ length: 1_300 }, freshId);
    await inParallel(ids, 64, (id) => writer.put(id, { name: id }));
    const { directory } = await openDirectory();
    expect(ids.filter((id) => directory.get(id)?.name !== id)).toEqual([]);
    expect(new Set(await writer.keys()).size).toBeGreaterThanOrEqual(ids.length);
  });

  test('finds what was written a moment ago, and what is not there is not there', async () => {
    const { directory } = await openDirectory();
    const id = freshId();
    const writer = openWriter();
    expect(await directory.getFresh(id)).toBeUndefined();
    expect(await directory.getFresh('no.key.at.all')).toBeUndefined();
    const written = writer.put(id, { name: 'fresh' });
    await written;
    expect(await directory.getFresh(id)).toEqual({ name: 'fresh' });
    await writer.delete(id);
    await eventually(() => expect(directory.get(id)).toBeUndefined());
    expect(await directory.getFresh(id)).toBeUndefined();
  });

  test('a value that it cannot read is told, and is as good as absent', async () => {
    const { directory, errors } = await openDirectory();
    const [newer, readable] = [freshId(), freshId()];
    await openWriter({ ...codec, version: 2 }).put(newer, { name: 'newer' });
    await openWriter().put(readable, { name: 'ok' });
    await eventually(() => expect(directory.get(readable)).toEqual({ name: 'ok' }));
    expect(directory.get(newer)).toBeUndefined();
    expect(errors).toEqual([expect.objectContaining({ message: expect.stringContaining(newer) })]);
  });

  test('notices after an interruption what was removed and written meanwhile', async () => {
    const writer = openWriter();
    const [kept, gone] = [freshId(), freshId()];
    await writer.put(kept, { name: 'old' });
    await writer.put(gone, { name: 'gone' });
    const { directory } = await openDirectory();
    const changes: [string, Sample | null][] = [];
    directory.onChange((key, value) => changes.push([key, value]));

    await nats.server.kill();
    await nats.restart('kill');
    // Another client changes the bucket before this one has found its way back.
    const other = await openBroker(nats);
    const faster = new SnapshotWriter<Sample>({ broker: other, clock: systemClock, bucket: BUCKET, codec });
    await faster.put(kept, { name: 'new' });
    await other.manager.streams.purge(bucketStream(BUCKET), { filter: `$KV.${BUCKET}.${gone}` });
    await other.connection.close();

    await eventually(() => expect(directory.get(kept)).toEqual({ name: 'new' }), RECOVERY);
    await eventually(() => expect(directory.get(gone)).toBeUndefined(), RECOVERY);
    expect(changes).toContainEqual([gone, null]);
    expect(changes.filter(([key]) => key === kept)).toEqual([[kept, { name: 'new' }]]);
  });

  test('survives a bucket that was deleted and made again, with its smaller revisions', async () => {
    const writer = openWriter();
    const [lost, kept] = [freshId(), freshId()];
    for (let round = 0; round < 5; round += 1) await writer.put(kept, { name: `old-${round}` });
    await writer.put(lost, { name: 'lost' });
    const { directory } = await openDirectory();
    await broker.manager.streams.delete(bucketStream(BUCKET));
    await ensure(broker, 'snapshots');
    await writer.put(kept, { name: 'new' });
    await eventually(() => expect(directory.get(kept)).toEqual({ name: 'new' }), RECOVERY);
    await eventually(() => expect(directory.get(lost)).toBeUndefined(), RECOVERY);
  });
});
