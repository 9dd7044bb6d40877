import type { LogHead } from '@berth/endpoint-log';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { ManualClock, eventually } from '@berth/testing';
import { freshKey } from '@berth/testing/conformance';
import { useNatsServer } from '@berth/testing/servers';
import { afterEach, describe, expect, test } from '@jest/globals';
import { JetStreamAttachments } from '../src/attachments/jetstream-attachments.js';
import { JetStreamBlobs } from '../src/blobs/jetstream-blobs.js';
import { Broker } from '../src/broker/broker.js';
import { JetStreamChunks } from '../src/chunk-log/jetstream-chunks.js';
import { connectNats } from '../src/connection.js';
import { NatsLogBroker } from '../src/endpoint-log/nats-log-broker.js';
import { NatsShardClaims } from '../src/endpoint-log/nats-shard-claims.js';
import { JetStreamReaderCursors } from '../src/reader-cursors/jetstream-reader-cursors.js';
import { plainCodec } from '../src/snapshots/snapshot-codec.js';
import { SnapshotDirectory } from '../src/snapshots/snapshot-directory.js';
import { SnapshotWriter } from '../src/snapshots/snapshot-writer.js';
import { logShard } from '../src/topology/shards.js';
import { OwnerScene, endpointCalled } from './endpoint-log/owner-scene.js';
import { ensure } from './open-broker.js';

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
    connectWithinMs: 60_000,
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

  test('the router keeps payloads and the cursors of readers', async () => {
    const broker = await openAs('router');
    await ensure(broker, 'jobs');
    const key = freshKey();
    const cursors = new JetStreamReaderCursors(broker);
    const reader = { ...key, keyId: 'key-1' };
    await cursors.write(reader, { attempt: 1, index: 1 }, 0);
    expect((await cursors.read(reader))?.cursor).toEqual({ attempt: 1, index: 1 });

    const blobs = new JetStreamBlobs(broker);
    const manifest = await blobs.write(key, { name: 'in', bytes: new Uint8Array(10) }, LIFE_MS);
    expect(await blobs.read(key, manifest)).toHaveLength(10);
    await blobs.remove(key, 'in');
    const chunks = new JetStreamChunks(broker);
    await chunks.append(key, { attempt: 1, index: 0, body: '1' as never }, LIFE_MS);
    expect(await chunks.read({ ...key, attempt: 1, fromIndex: 0, limit: 5 })).toHaveLength(1);
    await new JetStreamAttachments(broker).removeEndpoint(key.endpointId);

    expect(refused).toEqual([]);
  });

  test('the router owns logs and claims shards', async () => {
    const broker = await openAs('router');
    await ensure(broker, 'jobs');
    const claims = new NatsShardClaims(broker);
    const self = { routerId: 'r1', incarnation: 'i1', reads: 1 };
    expect(await claims.present(self)).toMatchObject({ kind: 'written' });
    expect(await claims.claim(3, { owner: self, term: 1 }, 0)).toMatchObject({ kind: 'written' });
    const survey = await claims.survey();
    expect([survey.claims.size, survey.routers.get('i1')?.value]).toEqual([1, self]);
    await claims.leave('i1');
    expect((await claims.survey()).routers.size).toBe(0);

    const clock = new ManualClock();
    const logs = new NatsLogBroker({ broker, clock: systemClock });
    const scene = new OwnerScene(logs, { clock, routerId: 'r1' });
    const endpointId = endpointCalled('role');
    await scene.take(endpointId);
    const jobId = await scene.submit(endpointId);
    expect(await scene.status(endpointId, jobId)).toMatchObject({ answer: { state: 'IN_QUEUE' } });
    const sequences: number[] = [];
    for await (const { sequence } of logs.read(endpointId, 0)) sequences.push(sequence);
    const [first, last] = [sequences[0]!, sequences.at(-1)!];
    expect(await logs.readNext(endpointId, first)).toMatchObject({ after: first });
    await logs.purge(endpointId, first);
    const heads: LogHead[] = [];
    for await (const head of logs.heads(logShard(endpointId))) heads.push(head);
    expect(heads).toMatchObject([{ endpointId, sequence: last }]);
    expect(refused).toEqual([]);
  });
});
