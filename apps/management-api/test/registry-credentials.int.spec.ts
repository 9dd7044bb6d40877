import { Writable } from 'node:stream';
import type { DesiredWorker } from '@berth/contracts';
import { SHIPPED_CATALOG, type AccountId, type HostId } from '@berth/domain';
import { createLogger, silentLogger } from '@berth/telemetry';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { HostSessionsService } from '../src/host-sessions/host-sessions-service.js';
import { hashHostSecret } from '../src/host-sessions/secret-hash.js';
import { AccountEntity, RegistryEntity, WorkerEntity } from '../src/persistence/entities/index.js';
import { RegistryCredentialsService } from '../src/registries/registry-credentials-service.js';
import { INVENTORY, SPEC, useFleetBench } from './fleet-bench.js';
import { envSeal, secretBox } from './secret-box.js';

const bench = useFleetBench();

const SECRET = 'host-secret';
const CREDENTIALS = { username: 'ci-puller', password: 'correct horse' };
const ACCOUNT = 'account' as AccountId;

/** What the host hears to its next report. */
async function desiredOf(hostId: string, credentials = new RegistryCredentialsService(secretBox(), silentLogger)) {
  const { clock, deletedVolumes, sessions: store } = bench;
  const service = new HostSessionsService({
    catalog: SHIPPED_CATALOG,
    store,
    credentials,
    envs: envSeal(),
    deletedVolumes,
    clock,
    onChange: () => undefined,
  });
  const request = { secret: SECRET, instanceId: 'i', sequence: 1, inventory: INVENTORY, workers: [] };
  return (await service.report(hostId as HostId, request)).desired;
}

const credentialsOf = (desired: readonly DesiredWorker[]): unknown[] =>
  desired.map(({ registryCredentials, workerId }) => ({ workerId, registryCredentials }));

async function addWorker(id: string, endpointId: string, row: Partial<WorkerEntity> = {}): Promise<void> {
  const createdAt = new Date(bench.clock.nowMs());
  const whole = { id, endpointId, hostId: 'h1', release: 1, intent: 'running' as const, restarts: 0, observed: null };
  const resources = { vcpus: 2, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };
  await bench.source.getRepository(WorkerEntity).insert({ ...whole, resources, createdAt, ...row });
}

/** An account with a registry `r1`, as the API makes it. */
async function addRegistry(accountId: AccountId, id: string, fill = 1): Promise<void> {
  const sealedCredentials = new RegistryCredentialsService(secretBox(fill), silentLogger).seal(
    { accountId, id },
    CREDENTIALS,
  );
  const createdAt = new Date(bench.clock.nowMs());
  await bench.source.getRepository(RegistryEntity).insert({ id, accountId, name: id, sealedCredentials, createdAt });
}

const withRegistry = (registryId: string) => ({ container: { ...SPEC.container, registryId } });

beforeEach(async () => {
  await bench.addHost('h1', { secretHash: hashHostSecret(SECRET) });
  await bench.addHost('h2', { secretHash: hashHostSecret(SECRET) });
  await addRegistry(ACCOUNT, 'r1');
  await bench.addEndpoint('private', withRegistry('r1'));
});

describe('the credentials of an image', () => {
  test('come with the worker to its host, and to no other host', async () => {
    await bench.addEndpoint('public');
    await addWorker('w1', 'private');
    await addWorker('w2', 'public');
    await addWorker('w3', 'public', { hostId: 'h2' });
    const desired = await desiredOf('h1');
    expect(credentialsOf(desired)).toEqual([
      { workerId: 'w1', registryCredentials: CREDENTIALS },
      { workerId: 'w2', registryCredentials: undefined },
    ]);
    expect(JSON.stringify(desired)).not.toContain('sealed');
    expect(credentialsOf(await desiredOf('h2'))).toEqual([{ workerId: 'w3', registryCredentials: undefined }]);
  });

  test('are not sent for a worker that shall go', async () => {
    await addWorker('w1', 'private', { intent: 'drained' });
    expect(credentialsOf(await desiredOf('h1'))).toEqual([{ workerId: 'w1', registryCredentials: undefined }]);
  });

  test('open in the place only that they were sealed for', async () => {
    const createdAt = new Date(bench.clock.nowMs());
    await bench.source.getRepository(AccountEntity).insert({ id: 'other', name: 'other', createdAt, deletedAt: null });
    // A row that somebody has copied into another account.
    await bench.source.query(
      `INSERT INTO registries (id, account_id, name, sealed_credentials)
       SELECT 'r2', 'other', name, sealed_credentials FROM registries WHERE id = 'r1'`,
    );
    await bench.addEndpoint('thief', withRegistry('r2'), { accountId: 'other' });
    await addWorker('w1', 'thief');
    expect(credentialsOf(await desiredOf('h1'))).toEqual([{ workerId: 'w1', registryCredentials: undefined }]);
  });

  test('whose key is gone stop no report: the log says so, and names none of them', async () => {
    await addRegistry(ACCOUNT, 'r2', 2);
    await bench.addEndpoint('unreadable', withRegistry('r2'));
    await addWorker('w1', 'private');
    await addWorker('w2', 'unreadable');
    let log = '';
    const output = new Writable({
      write: (chunk: Buffer, _, done) => {
        log += chunk.toString();
        done();
      },
    });
    const logger = createLogger({ name: 'test', level: 'debug', format: 'json', output });
    expect(credentialsOf(await desiredOf('h1', new RegistryCredentialsService(secretBox(), logger)))).toEqual([
      { workerId: 'w1', registryCredentials: CREDENTIALS },
      { workerId: 'w2', registryCredentials: undefined },
    ]);
    expect(log).toContain('r2');
    expect(log).not.toContain(CREDENTIALS.password);
  });
});
