import { execFile } from 'node:child_process';
import { readlink } from 'node:fs/promises';
import { promisify } from 'node:util';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StackClient } from '../src/management-client.js';
import { StartedStack } from '../src/started-stack.js';

const WAIT = { deadlineMs: 120_000, intervalMs: 200 };
const HOSTS = 3;
const VCPUS = 4;

interface Host {
  readonly id: string;
  readonly name: string;
  readonly inventory: { readonly vcpus: number } | null;
  readonly workers: readonly unknown[];
}

interface Worker {
  readonly id: string;
  readonly status: string;
}

let stack: StartedStack;
let client: StackClient;

beforeAll(async () => {
  const flags = ['--hosts', String(HOSTS), '--vcpus', String(VCPUS), '--demo', 'off', '--runtime', 'process'];
  stack = await StartedStack.start(flags);
  client = new StackClient(stack.dev.apiKey);
});

afterAll(async () => {
  await stack.stop();
  await stack.remove();
});

const hosts = async (): Promise<readonly Host[]> =>
  Promise.all(stack.dev.agents.map(({ hostId }) => client.get<Host>(`${stack.dev.baseUrl}/v2/hosts/${hostId}`)));

const networkOf = (pid: number): Promise<string> => readlink(`/proc/${pid}/ns/net`);
const ip = async (...args: readonly string[]): Promise<string> => (await promisify(execFile)('ip', args)).stdout.trim();

describe('a stack of three hosts', () => {
  test('lists three agents, each a host with a name and room of its own', async () => {
    const found = await hosts();
    expect(new Set(found.map(({ id }) => id)).size).toBe(HOSTS);
    expect(new Set(found.map(({ name }) => name)).size).toBe(HOSTS);
    expect(found.map(({ inventory }) => inventory?.vcpus)).toEqual([VCPUS, VCPUS, VCPUS]);
    expect(stack.dev.agents[1]?.pid).toBe(stack.dev.processes['worker-agent-2']);
  });

  test('has each in a network of its own where this user may make them', async () => {
    const networks = new Set(await Promise.all(stack.dev.agents.map(({ pid }) => networkOf(pid))));
    const areShared = stack.output.includes("hosts share this machine's network");
    expect(networks.size).toBe(areShared ? 1 : HOSTS);
    if (process.getuid?.() === 0) expect(areShared).toBe(false);
  });

  test('runs jobs on all of them, and those of one that dies are run by it again', async () => {
    const { baseUrl, runUrl } = stack.dev;
    const { id } = await client.post<{ readonly id: string }>(`${baseUrl}/v2/serverless`, {
      name: 'spread',
      type: 'QUEUE',
      image: 'local/node-echo',
      cpu: [{ id: 'cpu3c', vcpuCount: VCPUS }],
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
      workers: { min: HOSTS, max: HOSTS },
    });
    await eventually(async () => {
      const { workers } = await client.get<{ readonly workers: readonly Worker[] }>(
        `${baseUrl}/v2/serverless/${id}/workers`,
      );
      expect(workers.map(({ status }) => status)).toEqual(['IDLE', 'IDLE', 'IDLE']);
    }, WAIT);
    expect((await hosts()).map(({ workers }) => workers.length)).toEqual([1, 1, 1]);
    const pid = stack.pidOf('worker-agent-3');
    process.kill(pid, 'SIGKILL');
    await eventually(() => expect(stack.pidOf('worker-agent-3')).not.toBe(pid), WAIT);
    const jobs = Array.from({ length: 6 }, (_, index) =>
      client.post<{ readonly status: string }>(`${runUrl}/v2/${id}/runsync`, { input: { message: index } }, 90_000),
    );
    expect((await Promise.all(jobs)).map(({ status }) => status)).toEqual(jobs.map(() => 'COMPLETED'));
  });

  test('leaves neither agents nor networks behind', async () => {
    const pids = stack.dev.agents.map(({ pid }) => pid);
    const isRoot = process.getuid?.() === 0;
    const own = isRoot ? await Promise.all(pids.map((pid) => ip('netns', 'identify', String(pid)))) : [];
    expect(await stack.stop()).toBe(0);
    for (const pid of pids) await expect(networkOf(pid)).rejects.toThrow();
    const left = isRoot ? await ip('netns', 'list') : '';
    for (const namespace of own) expect(left).not.toContain(namespace);
  });
});
