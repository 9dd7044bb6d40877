import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '@berth/lifecycle';
import { pollUntil } from '@berth/servers';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { Diary } from './stack/diary.js';

const IMAGES = resolve(import.meta.dirname, 'workers');
const SUITE_MS = 300_000;
const CALL_MS = 60_000;
const AWAY_MS = 60_000;
const AWAY = ['management-api', 'controllers', 'postgres'] as const;

interface JobBody {
  readonly id: string;
  readonly status: string;
}

let stack: StartedStack;
let client: TenantClient;

beforeAll(async () => {
  stack = await StartedStack.start(['--runtime', 'process', '--images', IMAGES, '--demo', 'off']);
  client = new TenantClient(() => stack.dev, CALL_MS);
}, SUITE_MS);

afterAll(async () => {
  signalAll('SIGCONT');
  await stack.stop();
  await stack.remove();
}, SUITE_MS);

/** A process that stands still answers nobody; one that is killed would be back within a second. */
const signalAll = (signal: NodeJS.Signals): void => {
  for (const name of AWAY) process.kill(stack.pidOf(name), signal);
};

const runSync = async (endpointId: string): Promise<JobBody> => {
  const input = { input: { echo: 'ahoy', sleepMs: 0 } };
  return (await client.job<JobBody>('POST', `/${endpointId}/runsync?wait=30000`, input)).body;
};

const createEndpoint = async (name: string): Promise<string> => {
  const { body } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
    name,
    type: 'QUEUE',
    image: 'local/diary',
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 1, max: 1 },
    env: { DIARY: join(stack.home, `${name}.jsonl`) },
  });
  return body.id;
};

test(
  'jobs go on for a minute without control plane and database: accepted, taken, done, read',
  async () => {
    const endpointId = await createEndpoint('steady');
    const diary = new Diary(join(stack.home, 'steady.jsonl'));
    expect((await runSync(endpointId)).status).toBe('COMPLETED');
    signalAll('SIGSTOP');
    const untilMs = systemClock.monotonicMs() + AWAY_MS;
    const ids: string[] = [];
    while (systemClock.monotonicMs() < untilMs) {
      const job = await runSync(endpointId);
      expect(job.status).toBe('COMPLETED');
      ids.push(job.id);
      expect((await client.job<JobBody>('GET', `/${endpointId}/status/${job.id}`)).body.status).toBe('COMPLETED');
      await systemClock.sleep(250);
    }
    const ready = await fetch(`${stack.dev.operations['job-router']}/readyz`);
    expect(await ready.json()).toMatchObject({ status: 'ready' });
    signalAll('SIGCONT');
    const executed = diary.executions().map(({ jobId }) => jobId);
    expect(ids.filter((id) => executed.filter((each) => each === id).length !== 1)).toEqual([]);
    const another = await pollUntil(() => createEndpoint('afterwards').catch(() => undefined), {
      what: 'an endpoint made after the outage',
      deadlineMs: CALL_MS,
      intervalMs: 500,
    });
    expect((await runSync(another)).status).toBe('COMPLETED');
    expect((await runSync(endpointId)).status).toBe('COMPLETED');
  },
  SUITE_MS,
);

test(
  'a broker that is killed and comes back leaves no idle worker waiting for an answer that cannot come',
  async () => {
    const endpointId = await createEndpoint('idle');
    expect((await runSync(endpointId)).status).toBe('COMPLETED');
    for (let round = 0; round < 3; round += 1) {
      process.kill(stack.pidOf('nats-server'), 'SIGKILL');
      const { id } = await pollUntil(
        async () => {
          const job = await runSync(endpointId).catch(() => undefined);
          return job?.status === 'COMPLETED' ? job : undefined;
        },
        { what: 'a job done after the broker was killed', deadlineMs: CALL_MS, intervalMs: 100 },
      );
      const { body } = await client.job<{ history: object[] }>('GET', `/${endpointId}/requests/${id}`);
      expect(body.history).toHaveLength(1);
    }
    const { body } = await client.job('GET', `/${endpointId}/health`);
    expect(body).toMatchObject({ jobs: { retried: 0, inQueue: 0, inProgress: 0 } });
  },
  SUITE_MS,
);
