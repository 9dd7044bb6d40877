import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';

jest.setTimeout(300_000);
const WAIT = { deadlineMs: 120_000, intervalMs: 100 };
/** Room for two workers. */
const VCPUS = 4;

interface Worker {
  readonly id: string;
  readonly status: string;
  readonly reason?: string | null;
}

interface Job {
  readonly id: string;
  readonly status: string;
  readonly workerId: string | null;
  readonly attempts: number;
}

let stack: StartedStack;
let client: TenantClient;

beforeAll(async () => {
  stack = await StartedStack.start(['--runtime', 'process', '--vcpus', String(VCPUS), '--demo', 'off']);
  client = new TenantClient(() => stack.dev, WAIT.deadlineMs);
});

afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

async function create(name: string, flashboot: string): Promise<string> {
  const { body } = await client.manage<{ readonly id: string }>('POST', '/v2/serverless', {
    ...{ name, type: 'QUEUE', image: 'local/node-echo', cpu: [{ id: 'cpu3c', vcpuCount: 2 }], flashboot },
    scaling: { type: 'QUEUE_DELAY', queueDelay: 1 },
    workers: { min: 0, max: 1, idleTimeout: 1 },
  });
  return body.id;
}

const workersOf = async (endpointId: string): Promise<readonly Worker[]> =>
  (await client.manage<{ readonly workers: readonly Worker[] }>('GET', `/v2/serverless/${endpointId}/workers`)).body
    .workers;

async function run(endpointId: string): Promise<Job> {
  const { body } = await client.job<Job>('POST', `/${endpointId}/run`, { input: { message: 'ahoy' } });
  return eventually(async () => {
    const job = (await client.job<Job>('GET', `/${endpointId}/requests/${body.id}`)).body;
    expect(job.status).toBe('COMPLETED');
    return job;
  }, WAIT);
}

const paused = (endpointId: string): Promise<Worker> =>
  eventually(async () => {
    const [worker] = await workersOf(endpointId);
    expect(worker).toMatchObject({ status: 'IDLE', reason: 'paused (flashboot)' });
    return worker as Worker;
  }, WAIT);

describe('an endpoint with flashboot', () => {
  let endpointId: string;
  let worker: Worker;

  test('keeps its idle worker paused, which runs the next job in its first attempt', async () => {
    endpointId = await create('kept', 'FLASHBOOT');
    const first = await run(endpointId);
    worker = await paused(endpointId);
    expect(worker.id).toBe(first.workerId);
    expect((await client.job('GET', `/${endpointId}/health`)).body).toMatchObject({ workers: { idle: 1, ready: 0 } });
    const second = await run(endpointId);
    expect(second).toMatchObject({ workerId: worker.id, attempts: 1 });
    expect((await paused(endpointId)).id).toBe(worker.id);
  });

  test('gives its place to a worker of another endpoint that finds no room, and keeps it where it has priority', async () => {
    const kept = await create('priority', 'PRIORITY_FLASHBOOT');
    await run(kept);
    const keeps = await paused(kept);
    const other = await create('other', 'OFF');
    expect(await run(other)).toMatchObject({ attempts: 1 });
    expect(await workersOf(endpointId)).toEqual([]);
    expect((await paused(kept)).id).toBe(keeps.id);
  });

  test('lets its paused worker go when flashboot is switched off', async () => {
    const [endpoint] = (
      await client.manage<{ readonly endpoints: readonly { readonly id: string; readonly name: string }[] }>(
        'GET',
        '/v2/serverless',
      )
    ).body.endpoints.filter(({ name }) => name === 'priority');
    await client.manage('PATCH', `/v2/serverless/${endpoint?.id ?? ''}`, { flashboot: 'OFF' });
    await eventually(async () => expect(await workersOf(endpoint?.id ?? '')).toEqual([]), WAIT);
  });
});
