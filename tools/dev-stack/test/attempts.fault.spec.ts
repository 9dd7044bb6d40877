import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@berth/lifecycle';
import { pollUntil } from '@berth/servers';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';

const IMAGES = resolve(import.meta.dirname, '../../../apps/worker-agent/test/workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off'];
const STACK_MS = 300_000;
const JOB_MS = 120_000;

interface JobBody {
  readonly id: string;
  readonly status: string;
  readonly output?: unknown;
  readonly error?: string;
}

interface AttemptBody {
  readonly outcome: string;
  readonly reason: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly stoppedAt: string | null;
  readonly logTail: readonly string[];
}

describe('a worker that dies of its jobs', () => {
  let stack: StartedStack;
  let client: TenantClient;
  let endpointId = '';

  beforeAll(async () => {
    stack = await StartedStack.start(FLAGS);
    client = new TenantClient(() => stack.dev);
    const { body, status } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
      name: 'mortal',
      type: 'QUEUE',
      image: 'local/mortal',
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
      workers: { min: 1, max: 1 },
    });
    expect(status).toBe(201);
    endpointId = body.id;
  }, STACK_MS);

  afterAll(async () => {
    await stack.stop();
    await stack.remove();
  }, STACK_MS);

  const submit = async (input: object, more: object = {}): Promise<string> =>
    (await client.job<JobBody>('POST', `/${endpointId}/run`, { input, ...more })).body.id;
  const statusOf = async (id: string): Promise<JobBody> =>
    (await client.job<JobBody>('GET', `/${endpointId}/status/${id}`)).body;
  const reaches = (id: string, states: readonly string[]): Promise<JobBody> =>
    pollUntil(
      async () => {
        const job = await statusOf(id);
        return states.includes(job.status) ? job : undefined;
      },
      { what: `${id} to be ${states.join(' or ')}`, deadlineMs: JOB_MS },
    );
  const endOf = (id: string): Promise<JobBody> => reaches(id, ['COMPLETED', 'FAILED', 'TIMED_OUT', 'CANCELLED']);
  const attemptsOf = async (id: string): Promise<readonly AttemptBody[]> =>
    (await client.job<{ history: readonly AttemptBody[] }>('GET', `/${endpointId}/requests/${id}`)).body.history;
  const letGo = (id: string): Promise<AttemptBody> =>
    pollUntil(
      async () => {
        const attempt = (await attemptsOf(id)).at(-1);
        return attempt?.stoppedAt == null ? undefined : attempt;
      },
      { what: `the worker of ${id} to let go`, deadlineMs: JOB_MS },
    );

  test(
    'twice, and lives in the third attempt: the job completes, and its history says how it went',
    async () => {
      const id = await submit({ dies: 2, by: 'exit' });
      expect(await endOf(id)).toMatchObject({ status: 'COMPLETED', output: { retries: 2 } });
      const attempts = await attemptsOf(id);
      const lost = { outcome: 'lost', reason: 'worker exited with code 3' };
      expect(attempts).toMatchObject([lost, lost, { outcome: 'COMPLETED' }]);
      expect(attempts.map(({ logTail }) => logTail.at(-1))).toMatchObject([
        'attempt with 0 retries',
        'attempt with 1 retries',
        undefined,
      ]);
      const delaysMs = attempts.slice(1).map(({ startedAt }, order) => {
        return Date.parse(startedAt) - Date.parse(attempts[order]?.endedAt ?? '');
      });
      expect(delaysMs[0]).toBeGreaterThanOrEqual(800);
      expect(delaysMs[1]).toBeGreaterThanOrEqual(1_600);
    },
    JOB_MS,
  );

  test(
    'always: the job fails after its third attempt with the last reason',
    async () => {
      const id = await submit({ dies: 9, by: 'kill' });
      expect(await endOf(id)).toMatchObject({ status: 'FAILED', error: expect.stringContaining('code 137: killed') });
      expect(await attemptsOf(id)).toHaveLength(3);
    },
    JOB_MS,
  );

  test(
    'never: an error that it reports is final, in the first attempt',
    async () => {
      const id = await submit({ error: 'no such model' });
      expect(await endOf(id)).toMatchObject({ status: 'FAILED', error: 'no such model' });
      expect(await attemptsOf(id)).toHaveLength(1);
    },
    JOB_MS,
  );

  test(
    'or would not stop: cancelled at once, killed 10 s later, and the next job runs in a new worker',
    async () => {
      const id = await submit({ spinSeconds: 300 });
      await reaches(id, ['IN_PROGRESS']);
      const cancelledAtMs = systemClock.nowMs();
      await client.job('POST', `/${endpointId}/cancel/${id}`);
      expect(await statusOf(id)).toMatchObject({ status: 'CANCELLED' });
      const next = await submit({});
      const { logTail, stoppedAt } = await letGo(id);
      expect(logTail.at(-1)).toBe('attempt with 0 retries');
      const tookMs = Date.parse(stoppedAt ?? '') - cancelledAtMs;
      expect(tookMs).toBeGreaterThan(9_000);
      expect(tookMs).toBeLessThan(60_000);
      expect(await endOf(next)).toMatchObject({ status: 'COMPLETED' });
    },
    JOB_MS,
  );
});
