import type { AccountId, TemplateSpec } from '@berth/domain';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { Database } from '../src/persistence/database.js';
import { AccountEntity } from '../src/persistence/entities/index.js';
import { NetworkVolumesStore } from '../src/network-volumes/network-volumes.store.js';
import { RegistriesStore } from '../src/registries/registries.store.js';
import { TemplatesStore } from '../src/templates/templates.store.js';
import { SPEC, useFleetBench } from './fleet-bench.js';
import { envSeal, secretBox } from './secret-box.js';

const bench = useFleetBench();

const ACCOUNT = 'account' as AccountId;
const OTHER = 'other' as AccountId;

const TEMPLATE: TemplateSpec = {
  name: 't',
  container: SPEC.container,
  persistentMount: { sizeGb: 10, path: '/workspace' },
  isServerless: true,
  isPublic: false,
  source: 'community',
  category: 'NVIDIA',
  startsSsh: true,
  startsJupyter: true,
  allowedCudaVersions: [],
};

const registries = (): RegistriesStore => new RegistriesStore(new Database(bench.source));
const templates = (): TemplatesStore => new TemplatesStore(new Database(bench.source), envSeal());
const volumes = (): NetworkVolumesStore => new NetworkVolumesStore(new Database(bench.source));

const addRegistry = (accountId: AccountId, id: string): Promise<void> =>
  registries().insert({ id, accountId, name: id, createdAtMs: 0 }, secretBox().seal('{}', id));

const addVolume = (accountId: AccountId, id: string): Promise<void> =>
  volumes().insert({ id, accountId, name: id, sizeGb: 10, dataCenterId: 'A', type: 'STANDARD', createdAtMs: 0 });

const withRegistry = (registryId: string) => ({ container: { ...SPEC.container, registryId } });

beforeEach(async () => {
  const accounts = bench.source.getRepository(AccountEntity);
  await accounts.insert({ id: OTHER, name: OTHER, createdAt: new Date(0), deletedAt: null });
  for (const accountId of [ACCOUNT, OTHER]) {
    await addRegistry(accountId, `registry-of-${accountId}`);
    await addVolume(accountId, `volume-of-${accountId}`);
  }
  await templates().insert({ id: 't', accountId: ACCOUNT, spec: TEMPLATE, createdAtMs: 0 });
});

describe('the database refuses', () => {
  test.each([
    ["templates SET image = 'a b'", 'templates_image_check'],
    ["templates SET name = ''", 'templates_name_check'],
    ['templates SET disk_gb = 0', 'templates_disk_gb_check'],
    [`templates SET env = '[]'`, 'templates_env_check'],
    ['templates SET mount_gb = 9', 'templates_mount_gb_check'],
    ["templates SET mount_path = 'a'", 'templates_mount_path_check'],
    ['templates SET mount_gb = NULL', 'templates_mount'],
    ["templates SET source = 'mine'", 'templates_source_check'],
    ["templates SET category = 'TPU'", 'templates_category_check'],
    ["templates SET registry_id = 'registry-of-other'", 'templates_registry'],
    ["templates SET registry_id = 'nope'", 'templates_registry'],
    ["registries SET name = ''", 'registries_name_check'],
    ["registries SET sealed_credentials = 'hunter2'", 'registries_sealed_credentials_check'],
    ["network_volumes SET name = ''", 'network_volumes_name_check'],
    ['network_volumes SET size_gb = 9', 'network_volumes_size_gb_check'],
    ['network_volumes SET size_gb = 4097', 'network_volumes_size_gb_check'],
    ["network_volumes SET data_center_id = ''", 'network_volumes_data_center_id_check'],
    ["network_volumes SET type = 'FAST'", 'network_volumes_type_check'],
  ])('UPDATE %s', async (change, constraint) => {
    await expect(bench.source.query(`UPDATE ${change} WHERE account_id = 'account'`)).rejects.toThrow(constraint);
  });
});

/** A pod of the account `account` with its registry and volume. */
async function addPod(id: string): Promise<void> {
  await bench.source.query(
    `INSERT INTO pods (id, account_id, name, image, args, disk_gb, env, ports, registry_id, gpu_type_id, gpu_count,
                       cloud, status, reason, cost_usd_per_hour, is_locked)
     VALUES ($1, 'account', $1, 'i', '', 2, '{}', '{}', 'registry-of-account', 'NVIDIA L4', 1,
             'SECURE', 'PROVISIONING', '', 0, false)`,
    [id],
  );
  await bench.source.query(
    `INSERT INTO pod_volumes (account_id, pod_id, volume_id, path) VALUES ('account', $1, 'volume-of-account', '/a')`,
    [id],
  );
}

test('pods use registries and volumes too', async () => {
  await addPod('p1');
  const users = [{ kind: 'pod', id: 'p1' }];
  expect(await registries().usersOf(ACCOUNT, 'registry-of-account', 10)).toEqual(users);
  expect(await volumes().usersOf(ACCOUNT, 'volume-of-account', 10)).toEqual(users);
});

describe('those who use a registry', () => {
  test('are the endpoints of the account that have it now', async () => {
    await bench.addEndpoint('e1', withRegistry('registry-of-account'));
    await bench.addEndpoint('e2', withRegistry('registry-of-account'));
    await bench.addEndpoint('e3', withRegistry('registry-of-account'), { deletedAt: new Date(0) });
    await bench.addEndpoint('e4');
    const users = [
      { kind: 'endpoint', id: 'e1' },
      { kind: 'endpoint', id: 'e2' },
    ];
    expect(await registries().usersOf(ACCOUNT, 'registry-of-account', 10)).toEqual(users);
    expect(await registries().usersOf(ACCOUNT, 'registry-of-account', 1)).toEqual(users.slice(0, 1));
    expect(await registries().usersOf(OTHER, 'registry-of-account', 10)).toEqual([]);
  });

  test('keep it: the database refuses its deletion too', async () => {
    await bench.addEndpoint('e1', withRegistry('registry-of-account'));
    await expect(registries().delete(ACCOUNT, 'registry-of-account')).rejects.toThrow('endpoints_registry');
  });
});

describe('those who use a network volume', () => {
  const use = (endpointId: string, accountId = 'account', volumeId = 'volume-of-account'): Promise<unknown> =>
    bench.source.query(`INSERT INTO endpoint_volumes (account_id, endpoint_id, volume_id) VALUES ($1, $2, $3)`, [
      accountId,
      endpointId,
      volumeId,
    ]);

  test('are the endpoints of the account that have it now', async () => {
    await bench.addEndpoint('e1');
    await use('e1');
    expect(await volumes().usersOf(ACCOUNT, 'volume-of-account', 10)).toEqual([{ kind: 'endpoint', id: 'e1' }]);
    expect(await volumes().usersOf(OTHER, 'volume-of-account', 10)).toEqual([]);
  });

  test('keep it, and cannot be of another account', async () => {
    await bench.addEndpoint('e1');
    await expect(use('e1', 'account', 'volume-of-other')).rejects.toThrow('endpoint_volumes_volume');
    await use('e1');
    await expect(volumes().delete(ACCOUNT, 'volume-of-account')).rejects.toThrow('endpoint_volumes_volume');
  });
});

test('a registry that is being deleted is used by nobody who comes meanwhile', async () => {
  const database = new Database(bench.source);
  const store = new RegistriesStore(database);
  let adding: Promise<unknown> = Promise.resolve();
  await database.run(async () => {
    expect(await store.lock(ACCOUNT, 'registry-of-account')).toBe(true);
    // Waits at the locked row, on a connection of its own.
    adding = bench.addEndpoint('late', withRegistry('registry-of-account')).catch((error: unknown) => error);
    expect(await store.usersOf(ACCOUNT, 'registry-of-account', 10)).toEqual([]);
    await store.delete(ACCOUNT, 'registry-of-account');
  });
  expect(await adding).toMatchObject({ message: expect.stringContaining('endpoints_registry') });
});

test('a template loses a registry that is deleted, and is otherwise as it was', async () => {
  const spec = { ...TEMPLATE, ...withRegistry('registry-of-account') };
  await templates().update({ id: 't', accountId: ACCOUNT, spec });
  await registries().delete(ACCOUNT, 'registry-of-account');
  expect(await templates().findVisible(ACCOUNT, 't')).toMatchObject({ accountId: ACCOUNT, spec: TEMPLATE });
});

test('public templates are listed by who vouches for them, oldest first, as many as asked for', async () => {
  for (const [index, source] of (['official', 'community', 'verified', 'official'] as const).entries()) {
    const spec = { ...TEMPLATE, isPublic: true, source };
    await templates().insert({ id: `p${index}`, accountId: OTHER, spec, createdAtMs: 10 - index });
  }
  const ids = async (source: TemplateSpec['source'] | null, limit: number): Promise<string[]> =>
    (await templates().listPublic({ source, limit })).map(({ id }) => id);
  expect(await ids(null, 10)).toEqual(['p3', 'p2', 'p1', 'p0']);
  expect(await ids('official', 10)).toEqual(['p3', 'p0']);
  expect(await ids(null, 2)).toEqual(['p3', 'p2']);
  await bench.source.getRepository(AccountEntity).update({ id: OTHER }, { deletedAt: new Date(0) });
  expect(await ids(null, 10)).toEqual([]);
});
