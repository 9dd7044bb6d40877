import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { pollUntil } from '@berth/servers';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { environmentWith } from './config.js';
import { clientPython } from './stack/official-client.js';

const run = promisify(execFile);
const IMAGES = resolve(import.meta.dirname, 'workers');
const CLIENTS = resolve(import.meta.dirname, 'clients');
const STACK_MS = 300_000;
const REASON_WITHIN_MS = 90_000;
// Real processes on a machine that may be busy with other tests: a passing test is far quicker.
jest.setTimeout(STACK_MS);

interface Queue {
  readonly position: number | null;
  readonly reason: string;
  readonly detail: string;
  readonly since: string;
  readonly estimatedStartMs: number | null;
}

let stack: StartedStack;
let client: TenantClient;

beforeAll(async () => {
  stack = await StartedStack.start(['--runtime', 'process', '--images', IMAGES, '--demo', 'off']);
  client = new TenantClient(() => stack.dev);
}, STACK_MS);

afterAll(async () => {
  await stack.stop();
  await stack.remove();
}, STACK_MS);

async function createEndpoint(image: string, more: object = {}): Promise<string> {
  const { body, status } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
    name: image,
    type: 'QUEUE',
    image: `local/${image}`,
    ...('gpu' in more ? {} : { cpu: [{ id: 'cpu3c', vcpuCount: 2 }] }),
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 0, max: 1 },
    ...more,
  });
  if (status !== 201) throw new Error(`the endpoint was not made: ${JSON.stringify(body)}`);
  return body.id;
}

async function submit(endpointId: string, input: object = {}): Promise<string> {
  const { body } = await client.job<{ id: string }>('POST', `/${endpointId}/run`, { input });
  return body.id;
}

async function queueOf(endpointId: string, jobId: string): Promise<Queue | undefined> {
  const { body } = await client.job<{ queue?: Queue }>('GET', `/${endpointId}/status/${jobId}`);
  return body.queue;
}

/** What the job says, once it says that. */
const untilReason = (endpointId: string, jobId: string, reason: string): Promise<Queue> =>
  pollUntil(
    async () => {
      const queue = await queueOf(endpointId, jobId);
      return queue?.reason === reason ? queue : undefined;
    },
    { what: `the reason ${reason}`, deadlineMs: REASON_WITHIN_MS, intervalMs: 50 },
  );

describe('an accepted job says why it waits', () => {
  test('because its image is missing, once its start has failed', async () => {
    const endpointId = await createEndpoint('not-there');
    const jobId = await submit(endpointId);
    await pollUntil(
      async () => {
        const { body } = await client.manage<{ workers: { reason: string }[] }>(
          'GET',
          `/v2/serverless/${endpointId}/workers`,
        );
        return body.workers.some(({ reason }) => reason.includes('not-there')) ? true : undefined;
      },
      { what: 'the failed start', deadlineMs: REASON_WITHIN_MS, intervalMs: 50 },
    );
    const queue = await pollUntil(
      async () => {
        const told = await queueOf(endpointId, jobId);
        return told?.reason === 'image-error' ? told : undefined;
      },
      { what: 'image-error', deadlineMs: REASON_WITHIN_MS, intervalMs: 50 },
    );
    expect(queue).toMatchObject({ position: 1, estimatedStartMs: null });
    expect(queue.detail).toContain('not-there');
    expect(Date.parse(queue.since)).toBeGreaterThan(0);
  });

  test('because no host has the GPU', async () => {
    const endpointId = await createEndpoint('diary', { gpu: { pools: ['ADA_24'], count: 1 } });
    const queue = await untilReason(endpointId, await submit(endpointId), 'no-capacity');
    expect(queue.detail).toMatch(/\(gpu-type\): the host has no GPU of the wanted types/);
  });

  test('because all workers that there may be are busy', async () => {
    const endpointId = await createEndpoint('diary', { env: { DIARY: '/dev/null' } });
    const first = await submit(endpointId, { sleepMs: 60_000 });
    await pollUntil(
      async () => {
        const { body } = await client.job<{ status: string }>('GET', `/${endpointId}/status/${first}`);
        return body.status === 'IN_PROGRESS' ? true : undefined;
      },
      { what: 'the first job in progress', deadlineMs: REASON_WITHIN_MS },
    );
    const queue = await untilReason(endpointId, await submit(endpointId), 'at-max-workers');
    expect(queue).toMatchObject({ position: 1, detail: expect.stringContaining('at most 1 (workers.max)') as unknown });
    await client.manage('DELETE', `/v2/serverless/${endpointId}`);
  });

  test('because its worker crashes again and again, with the delay and the last words', async () => {
    const endpointId = await createEndpoint('crashing');
    const queue = await untilReason(endpointId, await submit(endpointId), 'start-delayed');
    expect(queue.detail).toMatch(/^next start in \d+ s; worker \w+: \d+ failed starts?.*code 3.*no such model/);
    await client.manage('DELETE', `/v2/serverless/${endpointId}`);
  });

  test('because its worker is on its way', async () => {
    const endpointId = await createEndpoint('never-ready');
    const jobId = await submit(endpointId);
    const queue = await pollUntil(
      async () => {
        const told = await queueOf(endpointId, jobId);
        return told?.detail.includes('has not asked for a job') === true ? told : undefined;
      },
      { what: 'the last stage of the start', deadlineMs: REASON_WITHIN_MS },
    );
    expect(queue.reason).toBe('worker-starting');
    await client.manage('DELETE', `/v2/serverless/${endpointId}`);
  });

  test('because it may have no worker, or nobody wants one for it', async () => {
    const none = await createEndpoint('diary', { workers: { min: 0, max: 0 } });
    await untilReason(none, await submit(none), 'workers-max-zero');
    const endpointId = await createEndpoint('diary');
    const { body } = await client.job<{ id: string }>('POST', `/${endpointId}/run`, {
      input: {},
      policy: { lowPriority: true },
    });
    await untilReason(endpointId, body.id, 'low-priority');
  });
});

describe('published clients read a job that waits', () => {
  test('the Python client 1.12.0', async () => {
    const endpointId = await createEndpoint('not-there');
    const env = environmentWith({ RUNPOD_ENDPOINT_BASE_URL: `${stack.dev.runUrl}/v2`, API_KEY: stack.dev.apiKey });
    const { stdout } = await run(await clientPython(), [resolve(CLIENTS, 'queued-job.py'), endpointId], { env });
    expect(JSON.parse(stdout)).toEqual({
      status: 'IN_QUEUE',
      output: null,
      cancelled: 'CANCELLED',
      asyncio: ['IN_QUEUE', 'CANCELLED'],
    });
  });

  test('the JavaScript client 1.1.2', async () => {
    const endpointId = await createEndpoint('not-there');
    const { apiKey, runUrl } = stack.dev;
    const { stdout } = await run(process.execPath, [
      resolve(CLIENTS, 'queued-job.mjs'),
      `${runUrl}/v2`,
      apiKey,
      endpointId,
    ]);
    expect(JSON.parse(stdout)).toEqual({
      status: 'IN_QUEUE',
      completed: false,
      succeeded: false,
      reason: expect.any(String) as unknown,
      cancelled: 'CANCELLED',
    });
  });
});
