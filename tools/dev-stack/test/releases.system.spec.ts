import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { pollUntil } from '@berth/servers';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';

const IMAGES = resolve(import.meta.dirname, 'workers');
const STACK_MS = 300_000;
const WITHIN_MS = 120_000;
// Real processes on a machine that may be busy with other tests: a passing test is far quicker.
jest.setTimeout(STACK_MS);

interface WorkerList {
  readonly workers: readonly {
    readonly id: string;
    readonly status: string;
    readonly version: number;
    readonly restarts: number;
  }[];
  readonly rollout: { readonly state: string; readonly reason: string; readonly workersOnLatest: number };
}

interface JobBody {
  readonly id: string;
  readonly status: string;
  readonly queue?: { readonly reason: string; readonly detail: string };
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

const envWith = (more: object = {}) => ({ DIARY: join(stack.home, 'diary.jsonl'), ...more });

async function createEndpoint(
  workers: { readonly min: number; readonly max: number },
  env = envWith(),
): Promise<string> {
  const { body, status } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
    ...{ name: 'diary', type: 'QUEUE', image: 'local/diary', cpu: [{ id: 'cpu3c', vcpuCount: 2 }], env, workers },
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
  });
  expect(status).toBe(201);
  return body.id;
}

async function release(endpointId: string, env: object): Promise<void> {
  expect(await client.manage('PATCH', `/v2/serverless/${endpointId}`, { env })).toMatchObject({ status: 200 });
}

const listOf = async (endpointId: string): Promise<WorkerList> =>
  (await client.manage<WorkerList>('GET', `/v2/serverless/${endpointId}/workers`)).body;

/** The list, once it is as it should be. */
const untilList = (endpointId: string, what: string, is: (list: WorkerList) => boolean): Promise<WorkerList> =>
  pollUntil(
    async () => {
      const list = await listOf(endpointId);
      return is(list) ? list : undefined;
    },
    { what, deadlineMs: WITHIN_MS, intervalMs: 100 },
  );

async function submit(endpointId: string, sleepMs: number): Promise<string> {
  const { body } = await client.job<JobBody>('POST', `/${endpointId}/run`, { input: { echo: 'x', sleepMs } });
  return body.id;
}

const statusOf = async (endpointId: string, jobId: string): Promise<JobBody> =>
  (await client.job<JobBody>('GET', `/${endpointId}/status/${jobId}`)).body;

const untilEnded = (endpointId: string, jobId: string): Promise<JobBody> =>
  pollUntil(
    async () => {
      const job = await statusOf(endpointId, jobId);
      return job.status === 'IN_QUEUE' || job.status === 'IN_PROGRESS' ? undefined : job;
    },
    { what: `the end of job ${jobId}`, deadlineMs: WITHIN_MS, intervalMs: 100 },
  );

const isUp = ({ status }: WorkerList['workers'][number]): boolean => status === 'IDLE' || status === 'RUNNING';

test('a release rolls under load: no job fails, and there are never more workers than the maximum', async () => {
  const endpointId = await createEndpoint({ min: 3, max: 3 });
  await untilList(endpointId, 'three workers', ({ workers }) => workers.filter(isUp).length === 3);
  await release(endpointId, envWith({ VERSION: '2' }));
  const jobs: string[] = [];
  const seen = new Set<string>();
  const done = await pollUntil(
    async () => {
      jobs.push(await submit(endpointId, 200));
      const list = await listOf(endpointId);
      expect(list.workers.length).toBeLessThanOrEqual(3);
      expect(list.workers.filter(isUp).length).toBeGreaterThanOrEqual(2);
      seen.add(
        list.workers
          .map(({ status, version }) => `${version} ${status}`)
          .toSorted()
          .join(', '),
      );
      // The last old worker may be gone a moment before its successor is made.
      return list.rollout.state === 'done' && list.workers.filter(isUp).length === 3 ? list : undefined;
    },
    { what: 'the end of the rollout', deadlineMs: WITHIN_MS, intervalMs: 100 },
  );
  expect(done.workers.map(({ version }) => version)).toEqual([2, 2, 2]);
  expect(seen.size).toBeGreaterThan(2);
  const ended = await Promise.all(jobs.map((id) => untilEnded(endpointId, id)));
  expect(ended.map(({ status }) => status)).toEqual(jobs.map(() => 'COMPLETED'));
  await client.manage('DELETE', `/v2/serverless/${endpointId}`);
});

test('a release that does not come up is halted, the old workers serve, and it goes on once it is mended', async () => {
  const endpointId = await createEndpoint({ min: 2, max: 3 });
  const { workers: before } = await untilList(
    endpointId,
    'two workers',
    ({ workers }) => workers.filter(isUp).length === 2,
  );
  const mended = join(stack.home, 'mended');
  await release(endpointId, envWith({ MENDED: mended }));
  const halted = await untilList(endpointId, 'the halt', ({ rollout }) => rollout.state === 'halted');
  expect(halted.rollout.reason).toContain('no such model');
  const old = halted.workers.filter(({ version }) => version === 1);
  expect(old.map(({ id }) => id)).toEqual(before.map(({ id }) => id));
  expect(old.every(isUp)).toBe(true);
  expect(await untilEnded(endpointId, await submit(endpointId, 0))).toMatchObject({ status: 'COMPLETED' });
  await writeFile(mended, '');
  const done = await untilList(endpointId, 'the end of the rollout', ({ rollout }) => rollout.state === 'done');
  expect(done.workers.filter(isUp).every(({ version }) => version === 2)).toBe(true);
  await client.manage('DELETE', `/v2/serverless/${endpointId}`);
});

test('a crash loop frees all workers but one, its jobs wait and say why, and a restart ends it', async () => {
  const mended = join(stack.home, 'mended-later');
  const endpointId = await createEndpoint({ min: 0, max: 3 }, envWith({ MENDED: mended }));
  const jobs = [await submit(endpointId, 0), await submit(endpointId, 0), await submit(endpointId, 0)];
  await untilList(endpointId, 'three workers', ({ workers }) => workers.length === 3);
  const looping = await untilList(
    endpointId,
    'the one that goes on trying',
    ({ rollout, workers }) => rollout.state === 'halted' && workers.length === 1,
  );
  const why = await pollUntil(
    async () => {
      const { queue } = await statusOf(endpointId, jobs[2] ?? '');
      return queue?.detail.includes('does not come up') === true ? queue : undefined;
    },
    { what: 'the reason', deadlineMs: WITHIN_MS, intervalMs: 100 },
  );
  expect(why.reason).toBe('image-error');
  expect(why.detail).toContain('no such model');
  await writeFile(mended, '');
  const [probe] = looping.workers;
  const path = `/v2/serverless/${endpointId}/workers/${probe?.id ?? ''}/action`;
  expect(await client.manage('POST', path, { action: 'restart' })).toMatchObject({
    status: 200,
    body: { restarts: 1 },
  });
  const ended = await Promise.all(jobs.map((id) => untilEnded(endpointId, id)));
  expect(ended.map(({ status }) => status)).toEqual(['COMPLETED', 'COMPLETED', 'COMPLETED']);
  expect((await listOf(endpointId)).rollout).toMatchObject({ state: 'done', reason: '' });
});
