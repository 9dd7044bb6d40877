import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { isRunning, pollUntil } from '@berth/servers';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';

const IMAGES = resolve(import.meta.dirname, 'workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--routers', '2'];
const SUITE_MS = 300_000;
const CALL_MS = 60_000;
const LEASE_OVER = 'lost: worker lost: its host stopped answering';

interface JobBody {
  readonly id: string;
  readonly status: string;
}

let stack: StartedStack;
let isStopped = false;
let path = '';

/** A caller of one router, wherever it listens now. */
const clientOf = (index: number): TenantClient =>
  new TenantClient(() => ({ ...stack.dev, runUrl: routerOf(index).runUrl }), CALL_MS);

function routerOf(index: number): { readonly runUrl: string; readonly pid: number } {
  const router = stack.dev.routers[index];
  if (router === undefined) throw new Error(`dev.json lists no router ${index}`);
  return router;
}

const statusAt = async (client: TenantClient, id: string): Promise<string> =>
  (await client.job<JobBody>('GET', `${path}/status/${id}`)).body.status;

const submitAt = async (client: TenantClient): Promise<string> => {
  const { body, status } = await client.job<JobBody>('POST', `${path}/run`, { input: { echo: 'ahoy', sleepMs: 0 } });
  expect(status).toBe(200);
  return body.id;
};

const completesAt = (client: TenantClient, id: string): Promise<true> =>
  pollUntil(async () => ((await statusAt(client, id)) === 'COMPLETED' ? true : undefined), {
    what: `${id} to be COMPLETED`,
    deadlineMs: CALL_MS,
  });

interface DescribedBody {
  readonly history: readonly { readonly outcome: string; readonly reason: string }[];
}

const endsOfAttempts = async (client: TenantClient, id: string): Promise<readonly string[]> => {
  const { body } = await client.job<DescribedBody>('GET', `${path}/requests/${id}`);
  return body.history.map(({ outcome, reason }) => `${outcome}: ${reason}`);
};

beforeAll(async () => {
  stack = await StartedStack.start(FLAGS);
  const { body } = await clientOf(0).manage<{ id: string }>('POST', '/v2/serverless', {
    name: 'shared',
    type: 'QUEUE',
    image: 'local/diary',
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 1, max: 1 },
    env: { DIARY: join(stack.home, 'shared.jsonl') },
  });
  path = `/${body.id}`;
}, SUITE_MS);

afterAll(async () => {
  if (!isStopped) await stack.stop();
  await stack.remove();
}, SUITE_MS);

test('dev.json lists both routers, each on a port of its own, and the agent', () => {
  const { agents, operations, processes, routers, runUrl } = stack.dev;
  expect(routers.map(({ pid }) => pid)).toEqual([processes['job-router'], processes['job-router-2']]);
  expect(routers[0]?.runUrl).toBe(runUrl);
  expect(new Set(routers.map((router) => router.runUrl)).size).toBe(2);
  expect(agents).toEqual([{ hostId: expect.any(String) as unknown, pid: processes['worker-agent'] }]);
  expect(operations['job-router-2']).toMatch(/^http:/);
  expect(stack.output).toContain(routerOf(1).runUrl);
});

test(
  'a job that is submitted at one router is done and read at the other',
  async () => {
    const first = clientOf(0);
    const second = clientOf(1);
    await completesAt(second, await submitAt(first));
    await completesAt(first, await submitAt(second));
  },
  SUITE_MS,
);

test(
  'a router that is killed comes back with a new pid in both places, while the other answers',
  async () => {
    const first = clientOf(0);
    const { pid: before, runUrl } = routerOf(1);
    const id = await submitAt(clientOf(1));
    process.kill(before, 'SIGKILL');
    await completesAt(first, id);
    const after = await pollUntil(
      () => {
        const { pid } = routerOf(1);
        return Promise.resolve(pid === before ? undefined : pid);
      },
      { what: 'a new pid of the second router', deadlineMs: 15_000 },
    );
    expect(stack.dev.processes['job-router-2']).toBe(after);
    expect(routerOf(1).runUrl).toBe(runUrl);
    expect(routerOf(0).pid).toBe(stack.pidOf('job-router'));
    const read = await pollUntil(() => statusAt(clientOf(1), id).catch(() => undefined), {
      what: 'an answer of the router that came back',
      deadlineMs: CALL_MS,
    });
    expect(read).toBe('COMPLETED');
    expect(stack.output).toContain('! job-router-2 was ended by SIGKILL; starting it again');
  },
  SUITE_MS,
);

test(
  'no job waits for the end of a lease because a router was killed: what it was asked, or had given, is asked again',
  async () => {
    for (const index of [0, 1, 0, 1]) {
      const living = clientOf(1 - index);
      const { pid } = routerOf(index);
      process.kill(pid, 'SIGKILL');
      const ids = await Promise.all(Array.from({ length: 4 }, () => submitAt(living)));
      for (const id of ids) {
        await completesAt(living, id);
        expect(await endsOfAttempts(living, id)).not.toContain(LEASE_OVER);
      }
      await pollUntil(() => statusAt(clientOf(index), ids[0] ?? '').catch(() => undefined), {
        what: 'an answer of the router that came back',
        deadlineMs: CALL_MS,
      });
    }
  },
  SUITE_MS,
);

test(
  'a stop ends both',
  async () => {
    const pids = Object.values(stack.dev.processes);
    expect(pids).toHaveLength(8);
    isStopped = true;
    expect(await stack.stop()).toBe(0);
    expect(await Promise.all(pids.map(isRunning))).toEqual(pids.map(() => false));
  },
  SUITE_MS,
);
