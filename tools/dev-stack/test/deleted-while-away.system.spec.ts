import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { FurtherHost } from './stack/further-host.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 200 };
const AWAY = 'AWAY-1';
const WORKERS = fileURLToPath(new URL('../../../apps/worker-agent/test/workers', import.meta.url));

interface WorkerList {
  readonly workers: readonly { readonly id: string; readonly status: string; readonly hostId?: string }[];
}

let stack: StartedStack;
let tenant: TenantClient;
let host: FurtherHost;

beforeAll(async () => {
  stack = await StartedStack.start(['--demo', 'off', '--runtime', 'process', '--images', WORKERS]);
  tenant = new TenantClient(() => stack.dev, 90_000);
  host = await FurtherHost.add(stack, tenant, {
    ...{ name: 'away', dataCenterId: AWAY },
    settings: { BERTH_RUNTIME: 'process', BERTH_IMAGES: WORKERS, BERTH_VCPUS: '8' },
  });
});
afterAll(async () => {
  await host.remove();
  await stack.stop();
  await stack.remove();
});

async function created(name: string): Promise<string> {
  const answer = await tenant.manage<{ readonly id: string }>('POST', '/v2/serverless', {
    ...{ name, type: 'QUEUE', image: 'local/talker', cpu: [{ id: 'cpu3c', vcpuCount: 2 }] },
    ...{ scaling: { type: 'REQUEST_COUNT', requestCount: 1 }, workers: { min: 1, max: 1 }, dataCenterIds: [AWAY] },
  });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body.id;
}

const idleWorkerOf = (endpointId: string): Promise<string> =>
  eventually(async () => {
    const { body } = await tenant.manage<WorkerList>('GET', `/v2/serverless/${endpointId}/workers`);
    const [worker] = body.workers;
    expect(worker).toMatchObject({ status: 'IDLE', hostId: host.hostId });
    return String(worker?.id);
  }, WAIT);

const spools = async (): Promise<readonly string[]> => (await readdir(join(host.home, 'worker-logs'))).toSorted();
const isOnline = async (): Promise<boolean> => {
  const { body } = await tenant.manage<{ readonly isOnline: boolean }>('GET', `/v2/hosts/${host.hostId}`);
  return body.isOnline;
};

test.each([
  ['is stopped, its workers gone before', 'SIGTERM'],
  ['is cut off, its workers left behind', 'SIGKILL'],
] as const)(
  'the logs of an endpoint that is deleted while its host %s go when the host is back, and no others',
  async (_, signal) => {
    const [deletedId, keptId] = [await created('deleted'), await created('kept')];
    const [deletedWorker, keptWorker] = [await idleWorkerOf(deletedId), await idleWorkerOf(keptId)];
    expect(await spools()).toEqual(expect.arrayContaining([deletedWorker, keptWorker]));

    expect(await isOnline()).toBe(true);
    await host.end(signal);
    expect((await tenant.manage('DELETE', `/v2/serverless/${deletedId}`)).status).toBe(204);
    await eventually(async () => expect(await isOnline()).toBe(false), WAIT);
    // Nobody is there to remove it.
    expect(await spools()).toContain(deletedWorker);

    host.start();
    await eventually(async () => expect(await spools()).not.toContain(deletedWorker), WAIT);
    expect(await spools()).toContain(keptWorker);
    await idleWorkerOf(keptId);
    expect((await tenant.manage('DELETE', `/v2/serverless/${keptId}`)).status).toBe(204);
    await eventually(async () => expect(await spools()).toEqual([]), WAIT);
    expect(await readdir(join(host.home, 'workers'))).toEqual([]);
  },
);
