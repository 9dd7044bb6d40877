import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { pollUntil } from '@berth/servers';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';

const IMAGES = resolve(import.meta.dirname, 'workers');
const SUITE_MS = 300_000;
const CALL_MS = 60_000;
/** The least that a job may be given. */
const SHORT_LIFE_MS = 10_000;

interface JobBody {
  readonly id: string;
  readonly status: string;
}

interface ListBody {
  readonly requests: readonly (JobBody & { readonly attempts: number; readonly workerId: string | null })[];
  readonly cursor: string | null;
  readonly degraded?: readonly { readonly source: string; readonly detail: string }[];
}

interface DetailBody extends JobBody {
  readonly history: readonly { readonly hostId: string; readonly outcome: string }[];
}

let stack: StartedStack;
let client: TenantClient;
let endpointId: string;
/** Jobs that have no record any more, the latest first. */
const gone: string[] = [];

beforeAll(async () => {
  stack = await StartedStack.start([
    '--runtime',
    'process',
    '--images',
    IMAGES,
    '--demo',
    'off',
    '--rate-limits',
    'off',
  ]);
  client = new TenantClient(() => stack.dev, CALL_MS);
  const { body } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
    name: 'kept',
    type: 'QUEUE',
    image: 'local/diary',
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 1, max: 1 },
    env: { DIARY: join(stack.home, 'kept.jsonl') },
  });
  endpointId = body.id;
}, SUITE_MS);

afterAll(async () => {
  signalControlPlane('SIGCONT');
  await stack.stop();
  await stack.remove();
}, SUITE_MS);

/** A process that stands still answers nobody; one that is killed would be back within a second. */
const signalControlPlane = (signal: NodeJS.Signals): void => {
  for (const name of ['management-api', 'controllers'] as const) process.kill(stack.pidOf(name), signal);
};

const get = <Body>(path: string) => client.job<Body>('GET', `/${endpointId}${path}`);

const run = async (policy: object = {}): Promise<string> => {
  const { body } = await client.job<JobBody>('POST', `/${endpointId}/run`, {
    input: { echo: 'ahoy', sleepMs: 0 },
    policy,
  });
  return body.id;
};

const listed = async (): Promise<ListBody> => (await get<ListBody>('/requests?limit=100')).body;

const until = <T>(what: string, look: () => Promise<T | undefined>): Promise<T> =>
  pollUntil(look, { what, deadlineMs: CALL_MS, intervalMs: 250 });

describe('the list of jobs, with router, control plane and database', () => {
  test(
    'goes on where records have expired, with the attempts of each',
    async () => {
      for (let n = 0; n < 3; n += 1) gone.unshift(await run({ ttl: SHORT_LIFE_MS }));
      const kept = await run();
      await until('the end of all jobs', async () => {
        const { requests } = await listed();
        return requests.length === 4 && requests.every(({ status }) => status === 'COMPLETED') ? true : undefined;
      });
      for (const id of gone) {
        await until('a 404', async () => ((await get(`/status/${id}`)).status === 404 ? true : undefined));
      }
      const body = await listed();
      expect(body.requests.map(({ id, status }) => [id, status])).toEqual(
        [kept, ...gone].map((id) => [id, 'COMPLETED']),
      );
      expect([body.cursor, body.degraded]).toEqual([null, undefined]);
      expect(new Set(body.requests.map(({ attempts, workerId }) => attempts === 1 && workerId !== null))).toEqual(
        new Set([true]),
      );
      for (const id of [kept, ...gone]) {
        const detail = (await get<DetailBody>(`/requests/${id}`)).body;
        expect(detail).toMatchObject({ id, history: [{ outcome: 'COMPLETED', hostId: expect.any(String) }] });
      }
    },
    SUITE_MS,
  );

  test(
    'tells the jobs with records while the control plane stands still, and the others when it is back',
    async () => {
      const [first = ''] = gone;
      signalControlPlane('SIGSTOP');
      const during = await listed();
      expect(during.degraded).toMatchObject([{ source: 'history' }]);
      expect(during.requests).toHaveLength(1);
      expect((await get(`/requests/${first}`)).status).toBe(503);
      expect((await get('/requests/nothing')).status).toBe(503);
      const meanwhile = await run({ ttl: SHORT_LIFE_MS });
      await until('the end of the job', async () =>
        (await get<JobBody>(`/status/${meanwhile}`)).body.status === 'COMPLETED' ? true : undefined,
      );
      signalControlPlane('SIGCONT');
      await until('a whole list', async () => {
        const { degraded, requests } = await listed();
        return degraded === undefined && requests.length === 5 ? true : undefined;
      });
      await until('a 404', async () => ((await get(`/status/${meanwhile}`)).status === 404 ? true : undefined));
      expect((await get<DetailBody>(`/requests/${meanwhile}`)).body.status).toBe('COMPLETED');
      expect((await get('/requests/nothing')).status).toBe(404);
    },
    SUITE_MS,
  );
});
