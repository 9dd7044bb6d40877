import {
  WIRE_VERSION,
  historySubject,
  type HistoryGetRequest,
  type HistoryListRequest,
  type HistoryVerb,
} from '@berth/contracts';
import { isOlder, newestFirst, type HostId, type JobDetail, type JobId, type WorkerId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { NatsConnection, Subscription } from '@nats-io/transport-node';
import { RouterBench, type Scene } from './bench/router-bench.js';

const bench = new RouterBench();
let scene: Scene;
let controlPlane: NatsConnection;
let answering: Subscription[];
/** What the control plane has kept. */
let past: JobDetail[];

beforeEach(async () => {
  scene = await bench.scene();
  controlPlane = await bench.nats.connect();
  past = [];
  answering = [];
});
afterEach(() => controlPlane.close());

const keptJob = (id: string, createdAtMs: number, more: Partial<JobDetail> = {}): JobDetail => ({
  ...{ jobId: id as JobId, status: 'COMPLETED', origin: 'run', createdAtMs },
  ...{ startedAtMs: createdAtMs + 10, endedAtMs: createdAtMs + 30, delayTimeMs: 10, executionTimeMs: 20 },
  ...{ hostId: 'h' as HostId, workerId: 'w' as WorkerId, attempts: 1, error: null, attemptList: [], webhook: null },
  ...more,
});

/** Answers like the control plane, for this endpoint and its account only. */
function answerHistory(): void {
  const serve = <Question extends { accountId: string; endpointId: string }>(
    verb: HistoryVerb,
    answer: (question: Question) => object,
  ): void => {
    const callback = (_: unknown, message: { string(): string; respond(text: string): boolean }): void => {
      const { body } = JSON.parse(message.string()) as { body: Question };
      expect([body.accountId, body.endpointId]).toEqual([scene.tenant.accountId, scene.endpointId]);
      const result = { ...answer(body), completeUntilMs: systemClock.nowMs() };
      message.respond(JSON.stringify({ v: WIRE_VERSION, result }));
    };
    answering.push(controlPlane.subscribe(historySubject(verb), { callback }));
  };
  serve<HistoryListRequest>('list', ({ before, limit, statuses }) => ({
    jobs: past
      .filter((job) => statuses.includes(job.status) && (before === null || isOlder(job, before)))
      .toSorted(newestFirst)
      .slice(0, limit),
  }));
  serve<HistoryGetRequest>('get', ({ jobId }) => ({ job: past.find((job) => job.jobId === jobId) ?? null }));
}

const started = async (): Promise<void> => {
  answerHistory();
  await controlPlane.flush();
};

interface Listed {
  readonly requests: readonly { readonly id: string; readonly queue?: object }[];
  readonly cursor: string | null;
}

const list = async (query = ''): Promise<Listed> => (await scene.client.call(`/requests${query}`)).body as Listed;

describe('GET /requests', () => {
  test('lists jobs in every state, newest first, and says why those wait that do', async () => {
    await started();
    const done = await scene.client.run({ n: 1 });
    await scene.agent.complete(await scene.agent.takeOne(), 'out');
    const running = await scene.client.run({ n: 2 });
    await scene.agent.takeOne();
    const waiting = await scene.client.run({ n: 3 });
    past.push(keptJob('expired', 1_750_000_000_000));
    await eventually(async () => {
      const body = await list();
      expect(body).toEqual({ requests: expect.any(Array), cursor: null });
      expect(body.requests).toMatchObject([
        { id: waiting, status: 'IN_QUEUE', startedAt: null, attempts: 0, queue: { reason: expect.any(String) } },
        { id: running, status: 'IN_PROGRESS', completedAt: null, attempts: 1, workerId: scene.agent.place.workerId },
        { id: done, status: 'COMPLETED', error: null, attempts: 1 },
        { id: 'expired', createdAt: '2025-06-15T15:06:40.000Z', completedAt: '2025-06-15T15:06:40.030Z' },
      ]);
      expect(body.requests[1]?.queue).toBeUndefined();
    });
  });

  test('goes through all pages while jobs are submitted', async () => {
    await started();
    const ids: string[] = [];
    for (let n = 0; n < 5; n += 1) ids.unshift(await scene.client.run({ n }));
    for (let n = 0; n < 5; n += 1) past.push(keptJob(`old-${n}`, 1_750_000_000_000 - n));
    ids.push(...past.map(({ jobId }) => jobId));
    await eventually(async () => expect((await list('?limit=100')).requests).toHaveLength(10));
    const told: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: Listed = await list(`?limit=3&cursor=${cursor}`);
      told.push(...page.requests.map(({ id }) => id));
      ({ cursor } = page);
      await scene.client.run({});
    }
    expect(told).toEqual(ids);
  });

  test('filters by status', async () => {
    await started();
    const cancelled = await scene.client.run({});
    await scene.client.call(`/cancel/${cancelled}`, { method: 'POST' });
    await scene.client.run({});
    past.push(keptJob('failed', 1_750_000_000_000, { status: 'FAILED', error: 'it broke' }));
    await eventually(async () => {
      const { requests } = await list('?status=CANCELLED,FAILED');
      expect(requests).toMatchObject([{ id: cancelled }, { id: 'failed', error: 'it broke' }]);
    });
  });

  test('tells the jobs with records, and says so, while nobody answers for the others', async () => {
    const id = await scene.client.run({});
    await eventually(async () => {
      expect(await list()).toMatchObject({ requests: [{ id }], degraded: [{ source: 'history' }] });
    });
    expect(await list('?status=IN_QUEUE')).not.toHaveProperty('degraded');
    expect((await scene.client.call('/requests/unknown')).status).toBe(503);
  });

  test('refuses what it cannot read, and who may not', async () => {
    const { body, status } = await scene.client.call('/requests?status=DONE&limit=0');
    expect(status).toBe(400);
    expect(body.errors).toEqual([
      expect.stringMatching(/^status: .*IN_QUEUE, IN_PROGRESS, COMPLETED, FAILED, CANCELLED, TIMED_OUT/),
      'limit: must be an integer from 1 to 100',
    ]);
    const stranger = bench.client(scene.endpointId, await bench.controlPlane.tenant());
    expect((await stranger.call('/requests')).status).toBe(404);
    expect((await stranger.call('/requests/x')).status).toBe(404);
    const writer = await bench.controlPlane.tenant({ accountId: scene.tenant.accountId, scopes: ['jobs:write'] });
    expect((await bench.client(scene.endpointId, writer).call('/requests')).status).toBe(403);
    expect((await scene.client.post('/requests', {})).status).toBe(405);
  });
});

describe('GET /requests/{job}', () => {
  test('tells every attempt of a job that is there', async () => {
    const webhook = 'https://hooks.example.com/secret?token=secret';
    const id = await scene.client.run({ n: 1 }, { webhook });
    const job = await scene.agent.takeOne();
    const running = (await scene.client.call(`/requests/${id}`)).body;
    const { hostId, workerId } = scene.agent.place;
    const open = {
      attempt: 1,
      hostId,
      workerId,
      endedAt: null,
      stoppedAt: null,
      outcome: null,
      reason: null,
      logTail: [],
    };
    expect(running).toMatchObject({ id, status: 'IN_PROGRESS', webhook: 'https://hooks.example.com', history: [open] });
    await scene.agent.done(job, { kind: 'failed', error: 'it broke', output: null });
    const { body } = await scene.client.call(`/requests/${id}`);
    expect(body).toMatchObject({
      status: 'FAILED',
      error: 'it broke',
      history: [{ outcome: 'FAILED', reason: 'it broke' }],
    });
    expect(Date.parse(body.completedAt) - Date.parse(body.startedAt)).toBe(body.executionTime);
  });

  test('tells of one that is gone what the history knows, and 404 for any other', async () => {
    await started();
    past.push(keptJob('expired', 1_750_000_000_000));
    expect((await scene.client.call('/requests/expired')).body).toMatchObject({ id: 'expired', history: [] });
    const { body, status } = await scene.client.call('/requests/unknown');
    expect([status, body.status]).toEqual([404, undefined]);
    expect((await scene.client.call('/requests/no.token')).status).toBe(404);
  });
});
