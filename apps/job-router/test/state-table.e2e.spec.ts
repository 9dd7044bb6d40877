import { describe, expect, test } from '@jest/globals';
import type { JobClient } from './bench/job-client.js';
import { RouterBench, type Scene } from './bench/router-bench.js';

const bench = new RouterBench();

/**
 * What every operation does to a job in every state: the HTTP status, and after an arrow what `/status` tells then where
 * that is another thing than before (`gone`: 404). `is` names what `/status` tells before. Reading is done by both verbs.
 * For a purge the number of removed jobs comes first.
 */
const TABLE = `
job         | is          | status | status-sync | stream | ttl | cancel          | retry          | purge
IN_QUEUE    | IN_QUEUE    | 200    | 200         | 200    | 200 | 200 → CANCELLED | 409            | 1: 200 → gone
IN_PROGRESS | IN_PROGRESS | 200    | 200         | 200    | 200 | 200 → CANCELLED | 409            | 0: 200
COMPLETED   | COMPLETED   | 200    | 200         | 200    | 200 | 200             | 409            | 0: 200
FAILED      | FAILED      | 200    | 200         | 200    | 200 | 200             | 200 → IN_QUEUE | 0: 200
CANCELLED   | CANCELLED   | 200    | 200         | 200    | 200 | 200             | 409            | 0: 200
TIMED_OUT   | TIMED_OUT   | 200    | 200         | 200    | 200 | 200             | 200 → IN_QUEUE | 0: 200
retried     | IN_QUEUE    | 200    | 200         | 200    | 200 | 200 → CANCELLED | 200            | 1: 200 → gone
requeued    | IN_QUEUE    | 200    | 200         | 200    | 200 | 200 → CANCELLED | 409            | 1: 200 → gone
purged      | gone        | 404    | 404         | 404    | 404 | 404             | 404            | 0: 200
expired     | gone        | 404    | 404         | 404    | 404 | 404             | 404            | 0: 200
unknown     | gone        | 404    | 404         | 404    | 404 | 404             | 404            | 0: 200
`;

/** Brings a job into a state and returns its id. */
const SETTING: Readonly<Record<string, (scene: Scene) => Promise<string>>> = {
  IN_QUEUE: ({ client }) => client.run({}),
  IN_PROGRESS: async ({ client, agent }) => {
    const id = await client.run({});
    await agent.takeOne();
    return id;
  },
  COMPLETED: async ({ client, agent }) => {
    const id = await client.run({});
    await agent.complete(await agent.takeOne(), 1);
    return id;
  },
  FAILED: async ({ client, agent }) => {
    const id = await client.run({});
    await agent.done(await agent.takeOne(), { kind: 'failed', error: 'boom', output: null });
    return id;
  },
  CANCELLED: async ({ client }) => {
    const id = await client.run({});
    await client.call(`/cancel/${id}`, { method: 'POST' });
    return id;
  },
  TIMED_OUT: async ({ client, agent }) => {
    const id = await client.run({});
    await agent.done(await agent.takeOne(), { kind: 'timed-out' });
    return id;
  },
  retried: async (scene) => {
    const id = await (SETTING['FAILED'] as (scene: Scene) => Promise<string>)(scene);
    await scene.client.call(`/retry/${id}`, { method: 'POST' });
    return id;
  },
  requeued: async ({ client, agent }) => {
    const id = await client.run({});
    await agent.done(await agent.takeOne(), { kind: 'lost', reason: 'crash', isCharged: true });
    return id;
  },
  purged: async ({ client }) => {
    const id = await client.run({});
    await client.call('/purge-queue', { method: 'POST' });
    return id;
  },
  expired: async ({ client }) => {
    const id = await client.run({});
    await client.call(`/status/${id}?ttl=1000`);
    await client.call(`/status-sync/${id}?wait=60000`);
    return id;
  },
  unknown: () => Promise.resolve('7d2a8a0c-0000-4000-8000-000000000000'),
};

type Operation = (client: JobClient, id: string, method: string) => Promise<{ status: number; removed?: number }>;

const OPERATION: Readonly<Record<string, Operation>> = {
  status: (client, id, method) => client.call(`/status/${id}`, { method }),
  'status-sync': (client, id, method) => client.call(`/status-sync/${id}?wait=1000`, { method }),
  stream: (client, id, method) => client.call(`/stream/${id}?wait=1000`, { method }),
  cancel: (client, id, method) => client.call(`/cancel/${id}`, { method }),
  retry: (client, id, method) => client.call(`/retry/${id}`, { method }),
  purge: async (client, _, method) => {
    const { status, body } = await client.call('/purge-queue', { method });
    return { status, removed: body.removed as number };
  },
  ttl: (client, id, method) => client.call(`/status/${id}?ttl=600000`, { method }),
};

const READING: readonly string[] = ['status', 'status-sync', 'stream', 'ttl'];

interface Row {
  readonly job: string;
  readonly before: string;
  /** By operation. */
  readonly expected: Readonly<Record<string, string>>;
}

function rowsOf(table: string): readonly Row[] {
  const [head = [], ...lines] = table
    .trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()));
  return lines.map(([job = '', before = '', ...cells]) => ({
    job,
    before,
    expected: Object.fromEntries(head.slice(2).map((operation, column) => [operation, cells[column] ?? ''])),
  }));
}

async function stateOf(client: JobClient, id: string): Promise<string> {
  const { status, body } = await client.status(id);
  return status === 404 ? 'gone' : (body.status as string);
}

/** What one operation does to a job of its own, as the table tells it. */
async function observe({ job, before }: Row, operation: string, method: string): Promise<string> {
  const scene = await bench.scene();
  const id = (await SETTING[job]?.(scene)) ?? '';
  expect(await stateOf(scene.client, id)).toBe(before);
  const told = await OPERATION[operation]?.(scene.client, id, method);
  const after = await stateOf(scene.client, id);
  const removed = told?.removed === undefined ? '' : `${told.removed}: `;
  return `${removed}${told?.status}${after === before ? '' : ` → ${after}`}`;
}

describe('every operation, by every verb that serves it', () => {
  test.each(rowsOf(TABLE))('on a job that is $job', async (row) => {
    for (const method of ['GET', 'POST']) {
      const served = Object.entries(row.expected).filter(([name]) => method === 'POST' || READING.includes(name));
      const observed = served.map(async ([name]) => [name, await observe(row, name, method)] as const);
      expect(Object.fromEntries(await Promise.all(observed))).toEqual(Object.fromEntries(served));
    }
  });
});

describe('a refused retry', () => {
  test.each([
    ['IN_QUEUE', /waits for a worker already/],
    ['IN_PROGRESS', /wait for its end/],
    ['COMPLETED', /another result/],
    ['CANCELLED', /Submit the input again/],
  ])('of a job that is %s says so, and what can be done', async (job, advice) => {
    const scene = await bench.scene();
    const id = (await SETTING[job]?.(scene)) ?? '';
    const { status, headers, body } = await scene.client.call(`/retry/${id}`, { method: 'POST' });
    expect([status, headers.get('content-type')]).toEqual([409, expect.stringMatching(/^application\/problem\+json/)]);
    expect(body).toMatchObject({
      type: expect.stringMatching(/job-not-retriable$/),
      detail: expect.stringMatching(advice),
    });
    expect(body.detail).toContain(job);
    expect(body).not.toHaveProperty('status');
  });
});
