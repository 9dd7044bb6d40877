import { createHash, randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pollUntil } from '@berth/servers';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { Diary } from './stack/diary.js';

const IMAGES = resolve(import.meta.dirname, 'workers');
/** Without limits: it asks much faster than a tenant may. */
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off'];
const SUITE_MS = 300_000;
const CALL_MS = 150_000;
const JOBS = 300;
const MIB = 1024 ** 2;
/** The whole body, quotes and braces included, must stay below the limit of 20 MiB. */
const BIG_CHARACTERS = 20 * MIB - 1_024;

interface JobBody {
  readonly id: string;
  readonly status: string;
  readonly output?: { readonly echo: string };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the job path under load, on real workers', () => {
  let stack: StartedStack;
  let client: TenantClient;

  beforeAll(async () => {
    stack = await StartedStack.start(FLAGS);
    client = new TenantClient(() => stack.dev, CALL_MS);
  }, SUITE_MS);

  afterAll(async () => {
    await stack.stop();
    await stack.remove();
  }, SUITE_MS);

  const createEndpoint = async (name: string, workersMax: number): Promise<{ endpointId: string; diary: Diary }> => {
    const path = join(stack.home, `${name}.jsonl`);
    const { body } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
      name,
      type: 'QUEUE',
      image: 'local/diary',
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
      workers: { min: 0, max: workersMax },
      env: { DIARY: path },
    });
    return { endpointId: body.id, diary: new Diary(path) };
  };

  const run = async (endpointId: string, echo: string): Promise<string> => {
    const { body, status } = await client.job<JobBody>('POST', `/${endpointId}/run`, { input: { echo, sleepMs: 0 } });
    expect(status).toBe(200);
    return body.id;
  };

  const untilEnded = (endpointId: string, jobId: string): Promise<JobBody> =>
    pollUntil(
      async () => {
        const { body } = await client.job<JobBody>('GET', `/${endpointId}/status/${jobId}`);
        return body.status === 'IN_QUEUE' || body.status === 'IN_PROGRESS' ? undefined : body;
      },
      { what: `the end of job ${jobId}`, deadlineMs: 120_000, intervalMs: 250 },
    );

  test(
    'completes each of 300 concurrent jobs once, on four workers',
    async () => {
      const { diary, endpointId } = await createEndpoint('many', 4);
      const ids = await Promise.all(Array.from({ length: JOBS }, (_, n) => run(endpointId, `job ${n}`)));
      const ended = await Promise.all(ids.map((id) => untilEnded(endpointId, id)));
      expect(ended.map(({ output, status }) => [status, output?.echo])).toEqual(
        ids.map((_, n) => ['COMPLETED', `job ${n}`]),
      );
      expect(
        diary
          .executions()
          .map(({ jobId }) => jobId)
          .toSorted(),
      ).toEqual(ids.toSorted());
    },
    SUITE_MS,
  );

  test(
    'runs jobs in the order of their acceptance on one worker',
    async () => {
      const { diary, endpointId } = await createEndpoint('in-order', 1);
      const ids: string[] = [];
      for (let n = 0; n < 20; n += 1) ids.push(await run(endpointId, `job ${n}`));
      await Promise.all(ids.map((id) => untilEnded(endpointId, id)));
      expect(diary.executions().map(({ jobId }) => jobId)).toEqual(ids);
    },
    SUITE_MS,
  );

  test(
    'carries 20 MB in and out of a worker unchanged',
    async () => {
      const { endpointId } = await createEndpoint('big', 1);
      const echo = randomBytes(BIG_CHARACTERS / 2).toString('hex');
      const { body, status } = await client.job<JobBody>('POST', `/${endpointId}/runsync?wait=120000`, {
        input: { echo, sleepMs: 0 },
      });
      expect([status, body.status]).toEqual([200, 'COMPLETED']);
      expect(sha256(body.output?.echo ?? '')).toBe(sha256(echo));
    },
    SUITE_MS,
  );
});
