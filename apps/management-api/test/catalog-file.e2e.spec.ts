import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { GB_BYTES } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { HostEntity, WorkerEntity } from '../src/persistence/entities/index.js';
import { QUEUE_ENDPOINT, each, useManagementApi } from './management-bench.js';

const folder = mkdtempSync(join(tmpdir(), 'berth-catalog-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function fileOf(name: string, content: object): string {
  const path = join(folder, name);
  writeFileSync(path, JSON.stringify(content));
  return path;
}

const OWN = {
  gpuTypes: { T4: { memoryGb: 16, pool: 'TURING_16', reportedAs: ['Tesla T4'] }, 'NVIDIA B200': null },
  gpuPools: { TURING_16: { serverlessUsdPerSecond: 0.0001 } },
  cpuFlavors: { cpu3m: null, epyc: { ramGbPerVcpu: 4 } },
  dataCenters: { '*': null, 'LOCAL-1': { name: 'Basement', region: 'EUROPE', countryCode: 'DE' } },
};
const bench = useManagementApi({ environment: { BERTH_CATALOG_FILE: fileOf('own.json', OWN) } });

const { cpu: _, ...ON_GPU } = QUEUE_ENDPOINT;
const create = (hardware: object) => bench.call('POST /v2/serverless', { body: { ...ON_GPU, ...hardware } });

/** Workers of the endpoint, as the control loops place them: by what drivers call the cards. */
async function joinWithWorker(endpointId: string): Promise<void> {
  const now = new Date(systemClock.nowMs());
  const inventory = {
    ...{ vcpus: 8, isOvercommitted: false, memoryBytes: 64 * GB_BYTES, diskBytes: 500 * GB_BYTES },
    gpus: [0, 1].map((index) => ({ index, typeId: 'Tesla T4', memoryBytes: 16 * GB_BYTES })),
    ...{ areGpusSimulated: false, cudaVersion: '12.4', runtime: 'docker' as const, images: [] },
  };
  await bench.source.getRepository(HostEntity).insert({
    ...{ id: 't4s', name: 't4s', dataCenterId: 'LOCAL-1', labels: {}, intent: 'ready', secretHash: null, inventory },
    ...{ instanceId: null, reportSequence: 0, lastSeenAt: new Date(now.getTime() + 600_000), createdAt: now },
  });
  const resources = { vcpus: 4, memoryBytes: GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: 'Tesla T4', gpuCount: 1 };
  await bench.source.getRepository(WorkerEntity).insert({
    ...{ id: 'w1', endpointId, hostId: 't4s', release: 1, intent: 'running', resources, restarts: 0 },
    ...{ observed: null, createdAt: now },
  });
}

describe("an operator's catalog", () => {
  test("lets endpoints ask for a pool of the operator's, and calls the card by its id wherever it is shown", async () => {
    const { body: endpoint, status } = await create({ gpu: { pools: ['TURING_16'] } });
    expect([status, endpoint.gpu.pools]).toEqual([201, ['TURING_16']]);
    await joinWithWorker(endpoint.id);
    const query = 'include=AVAILABILITY&product=SERVERLESS';
    expect((await bench.call(`GET /v2/catalog/gpus/T4?${query}`)).body).toMatchObject({
      ...{ id: 'T4', name: 'T4', memory: 16, pool: 'TURING_16', manufacturer: 'NVIDIA' },
      ...{ price: { serverless: 0.36 }, maxCount: { secure: 2 }, availability: 'LOW' },
      dataCenters: [{ id: 'LOCAL-1', name: 'Basement' }],
    });
    expect(await bench.call('GET /v2/catalog/gpus/Tesla%20T4')).toMatchObject({ status: 404 });
    const { body: workers } = await bench.call(`GET /v2/serverless/${endpoint.id}/workers`);
    expect(workers.workers).toMatchObject([{ id: 'w1', gpuTypeId: 'T4' }]);
    const { body: host } = await bench.call('GET /v2/hosts/t4s');
    expect(host.inventory.gpus).toMatchObject([{ typeId: 'T4' }, { typeId: 'T4' }]);
  });

  test('is all that there is', async () => {
    expect(each(await bench.call('GET /v2/catalog/cpus'), 'cpus', 'id')).toEqual([
      ...['cpu3c', 'cpu3g', 'cpu5c', 'cpu5g', 'cpu5m', 'epyc'],
    ]);
    expect(each(await bench.call('GET /v2/catalog/data-centers'), 'dataCenters', 'id')).toEqual(['LOCAL-1']);
    const { body } = await create({ gpu: { pools: ['BLACKWELL_180'] } });
    expect(body.detail).toContain("unknown GPU pool 'BLACKWELL_180'");
    expect(await create({ cpu: [{ id: 'epyc', vcpuCount: 4 }] })).toMatchObject({
      ...{ status: 201, body: { cpu: [{ id: 'epyc', vcpuCount: 4, memory: 16 }] } },
    });
    const v1 = { name: 'older', templateId: 'none', gpuTypeIds: ['Tesla T4'] };
    expect((await bench.call('POST /v1/endpoints', { body: v1 })).body.message).toContain('unknown GPU type');
  });

  test('keeps endpoints that name what was taken out', async () => {
    const { body: made } = await create({ cpu: [{ id: 'cpu3c', vcpuCount: 2 }] });
    await bench.source.query(
      `UPDATE endpoints SET spec = jsonb_set(spec, '{cpu,0,flavorId}', '"cpu3m"') WHERE id = $1`,
      [made.id],
    );
    const path = `/v2/serverless/${made.id}`;
    expect(await bench.call(`GET ${path}`)).toMatchObject({ status: 200, body: { cpu: [{ id: 'cpu3m', memory: 4 }] } });
    expect(await bench.call(`PATCH ${path}`, { body: { name: 'renamed' } })).toMatchObject({ status: 200 });
    const again = await bench.call(`PATCH ${path}`, { body: { cpu: [{ id: 'cpu3m', vcpuCount: 4 }] } });
    expect(again).toMatchObject({ status: 400 });
  });
});

test('a catalog that cannot be used stops the start', async () => {
  const broken = fileOf('broken.json', { gpuTypes: 1 });
  await expect(bench.startProcess({ BERTH_CATALOG_FILE: broken })).rejects.toThrow('$.gpuTypes must be an object');
});

test('a process with another catalog than one that runs says so in its metrics', async () => {
  const other = await bench.startProcess({ BERTH_CATALOG_FILE: fileOf('other.json', { cpuFlavors: { cpu3m: null } }) });
  await eventually(async () => {
    const metrics = await fetch(`${other.operationsUrl}/metrics`);
    expect(await metrics.text()).toMatch(/^berth_catalog_differences 1$/m);
  });
  await other.stop();
});
