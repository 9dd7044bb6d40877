import { BUCKETS, endpointSnapshotShape, type EndpointSnapshot } from '@berth/contracts';
import type { AccountId, LimitChange } from '@berth/domain';
import type { Caller } from '@berth/http';
import { inParallel, systemClock, systemRandom } from '@berth/lifecycle';
import { Broker, SnapshotWriter, ensureTopology, snapshotCodec } from '@berth/messaging';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { useNatsServer } from '@berth/testing/servers';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { AccountsService } from '../src/accounts/accounts-service.js';
import { composeSnapshots, type SnapshotPublishing } from '../src/snapshots/compose-snapshots.js';
import { Database } from '../src/persistence/database.js';
import { AccountsStore } from '../src/accounts/accounts.store.js';
import { AuditStore } from '../src/audit/audit.store.js';
import { PASS_MAX } from '../src/snapshots/snapshot-publisher.js';
import type { Transactions } from '../src/persistence/transactions.port.js';
import { SPEC, useFleetBench } from './fleet-bench.js';
import { changeSeal } from './secret-box.js';

const ACCOUNT = 'account' as AccountId;
const CALLER: Caller = { accountId: ACCOUNT, keyId: 'key', scopes: ['admin'], endpointIds: null, expiresAtMs: null };
const SIZE = { replicas: 1, storageBytes: 2 ** 30, memoryBytes: 2 ** 20 } as const;
const READ_IN_PARALLEL = 8;
/** One whole step, and a part of one. */
const ENDPOINTS = PASS_MAX + 100;

const nats = useNatsServer();
const bench = useFleetBench();

let broker: Broker;
let database: Database;
/** Of the endpoints of the test: the broker outlives it. */
let prefix: string;

beforeAll(async () => {
  broker = await Broker.over({ connection: await nats.connect() });
  await ensureTopology({ broker, part: 'snapshots', size: SIZE, clock: systemClock, random: systemRandom });
});

beforeEach(() => {
  database = new Database(bench.source);
  prefix = `e${systemRandom.id(8)}-`;
});

/** Rows as a create leaves them, and of one more that is deleted. */
async function addEndpoints(count: number): Promise<void> {
  await bench.source.transaction(async (manager) => {
    await manager.query(
      `INSERT INTO endpoints (id, account_id, spec, release, created_at, deleted_at)
       SELECT $1 || i, $2, $3::jsonb, 1, now(), CASE WHEN i = 0 THEN now() END FROM generate_series(0, $4::int) AS i`,
      [prefix, ACCOUNT, JSON.stringify(SPEC), count],
    );
    await manager.query(
      `INSERT INTO releases (endpoint_id, release, container) SELECT id, 1, spec->'container' FROM endpoints`,
    );
  });
}

/** A process of the API, with neither its loops nor a listener. Time stands still, so no step is cut short by it. */
const startProcess = (transactions: Pick<Transactions, 'afterCommit'> = database): SnapshotPublishing => {
  const parts = { broker, database, transactions, clock: bench.clock };
  return composeSnapshots({ ...parts, logger: silentLogger, metrics: new MetricRegistry() });
};

const change = (through: SnapshotPublishing, limits: LimitChange): Promise<unknown> => {
  const audit = new AuditStore(database, bench.clock, changeSeal());
  const records = new AccountsStore(database);
  const parts = { records, audit, snapshots: through.snapshots, clock: bench.clock, random: systemRandom };
  const accounts = new AccountsService({ ...parts, transactions: database });
  return accounts.update(CALLER, ACCOUNT, { change: limits, expected: null });
};

/** What the loop of a process does in one step, before that process dies as well. */
const step = (): Promise<void> => startProcess().publisher.run(new AbortController().signal);

const waiting = async (): Promise<number> =>
  (await bench.source.query<unknown[]>('SELECT 1 FROM snapshot_outbox')).length;

/** How many endpoints the routers know with these limits. */
async function known(limits: object | undefined): Promise<number> {
  const writer = new SnapshotWriter<EndpointSnapshot>({
    broker,
    clock: systemClock,
    bucket: BUCKETS.endpoints,
    codec: snapshotCodec(endpointSnapshotShape),
  });
  const ids = Array.from({ length: ENDPOINTS }, (_, index) => `${prefix}${index + 1}`);
  const snapshots = await inParallel(ids, READ_IN_PARALLEL, (id) => writer.read(id));
  const wanted = JSON.stringify(limits);
  return snapshots.filter((found) => found !== null && JSON.stringify(found.value.limits) === wanted).length;
}

describe('a change of limits that concerns more endpoints than one step takes', () => {
  test('reaches all of them, though each process dies after one step', async () => {
    await addEndpoints(ENDPOINTS);
    await change(startProcess(), { jobsPerEndpoint: 7 });
    expect([await known({ jobsPerEndpoint: 7 }), await waiting()]).toEqual([PASS_MAX, ENDPOINTS - PASS_MAX]);
    await step();
    expect([await known({ jobsPerEndpoint: 7 }), await waiting()]).toEqual([ENDPOINTS, 0]);
  });

  test('reaches all of them, though the process that makes it dies right after its commit', async () => {
    await addEndpoints(ENDPOINTS);
    await change(startProcess({ afterCommit: () => undefined }), { jobsPerEndpoint: 7 });
    expect([await known({ jobsPerEndpoint: 7 }), await waiting()]).toEqual([0, ENDPOINTS]);
    await step();
    expect([await known({ jobsPerEndpoint: 7 }), await waiting()]).toEqual([PASS_MAX, ENDPOINTS - PASS_MAX]);
    await step();
    expect([await known({ jobsPerEndpoint: 7 }), await waiting()]).toEqual([ENDPOINTS, 0]);
  });

  test('and is taken back between two steps leaves all of them with the later word', async () => {
    await addEndpoints(ENDPOINTS);
    await change(startProcess(), { jobsPerEndpoint: 7 });
    await change(startProcess({ afterCommit: () => undefined }), { jobsPerEndpoint: null });
    for (let steps = 0; steps < 2; steps += 1) await step();
    expect([await known(undefined), await waiting()]).toEqual([ENDPOINTS, 0]);
  });
});

test('a change of which nobody can be told is not made', async () => {
  await addEndpoints(1);
  await nats.server.kill();
  await expect(change(startProcess(), { endpoints: 7 })).rejects.toMatchObject({ code: 'service-unavailable' });
  expect(await new AccountsStore(database).find(ACCOUNT)).toMatchObject({ limits: {}, version: 1 });
  expect(await waiting()).toBe(0);
  await nats.restart('kill');
});
