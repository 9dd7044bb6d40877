import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 200 };
const VCPUS = 4;
const WORKERS = fileURLToPath(new URL('../../../apps/worker-agent/test/workers', import.meta.url));

interface Kept {
  readonly workerId: string;
  readonly output: { readonly lines: readonly string[]; readonly volumeId: string };
}

let stack: StartedStack;
let tenant: TenantClient;

beforeAll(async () => {
  const flags = [
    '--hosts',
    '2',
    '--vcpus',
    String(VCPUS),
    '--demo',
    'off',
    '--runtime',
    'process',
    '--images',
    WORKERS,
  ];
  stack = await StartedStack.start(flags);
  tenant = new TenantClient(() => stack.dev, 90_000);
});

afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

async function created(path: string, body: object): Promise<string> {
  const answer = await tenant.manage<{ readonly id: string }>('POST', path, body);
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id;
}

test('workers on two hosts share a volume, and its files go with it', async () => {
  const volumeId = await created('/v2/network-volumes', { name: 'weights', size: 10, dataCenter: 'LOCAL-1' });
  const endpointId = await created('/v2/serverless', {
    ...{ name: 'keeper', type: 'QUEUE', image: 'local/keeper', networkVolumes: [volumeId] },
    cpu: [{ id: 'cpu3c', vcpuCount: VCPUS }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 2, max: 2 },
  });
  const seen = new Map<string, readonly string[]>();
  await eventually(async () => {
    const { body } = await tenant.job<Kept>('POST', `/${endpointId}/runsync`, { input: { keep: `line ${seen.size}` } });
    expect(body.output.volumeId).toBe(volumeId);
    seen.set(body.workerId, body.output.lines);
    expect(seen.size).toBe(2);
  }, WAIT);
  const [, second = []] = seen.values();
  expect(second[0]).toBe('line 0');
  const hosts = await tenant.manage<{ readonly hosts: readonly { readonly inventory: object }[] }>('GET', '/v2/hosts');
  const storages = hosts.body.hosts.map(({ inventory }) => (inventory as { volumes?: object }).volumes);
  expect(storages).toEqual([storages[0], storages[0]]);

  expect((await tenant.manage('DELETE', `/v2/serverless/${endpointId}`)).status).toBe(204);
  await eventually(async () => {
    expect((await tenant.manage('DELETE', `/v2/network-volumes/${volumeId}`)).status).toBe(204);
  }, WAIT);
  const folder = join(stack.home, 'volumes');
  await eventually(async () => expect(await readdir(folder)).toEqual(['.berth-storage']), WAIT);
});
