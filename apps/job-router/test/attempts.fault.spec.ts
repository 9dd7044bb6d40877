import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import type { JobClient } from './bench/job-client.js';
import { RouterBench } from './bench/router-bench.js';
import { completed } from './bench/scripted-agent.js';

const bench = new RouterBench();
const TEST_MS = 240_000;

interface Detail {
  readonly history: readonly Record<string, unknown>[];
}

const historyOf = async (client: JobClient, id: string): Promise<Detail['history']> =>
  ((await client.call(`/requests/${id}`)).body as Detail).history;

const lost = (reason: string, logTail: readonly string[] = []) =>
  ({ kind: 'lost', reason, isCharged: true, logTail }) as const;

describe('a lost attempt', () => {
  test(
    'is tried again after 1 s and 2 s, and the history says of each how it ended',
    async () => {
      const { client, agent } = await bench.scene();
      const id = await client.run({});
      const reason = 'worker exited with code 137: killed, out of memory';
      const lostAtMs: number[] = [];
      for (const words of [['loading'], ['loading again']]) {
        const job = await agent.takeOne();
        lostAtMs.push(systemClock.monotonicMs());
        await agent.done(job, lost(reason, words));
      }
      const third = await agent.takeOne();
      expect(systemClock.monotonicMs() - (lostAtMs[1] ?? 0)).toBeGreaterThanOrEqual(1_500);
      expect((lostAtMs[1] ?? 0) - (lostAtMs[0] ?? 0)).toBeGreaterThanOrEqual(750);
      await agent.done(third, completed('at last'));
      expect((await client.call(`/status/${id}`)).body).toMatchObject({ status: 'COMPLETED', output: 'at last' });
      expect(await historyOf(client, id)).toMatchObject([
        { attempt: 1, outcome: 'lost', reason, logTail: ['loading'] },
        { attempt: 2, outcome: 'lost', reason, logTail: ['loading again'] },
        { attempt: 3, outcome: 'COMPLETED', logTail: [] },
      ]);
    },
    TEST_MS,
  );

  test(
    'that is the third fails the job with its reason',
    async () => {
      const { client, agent } = await bench.scene();
      const id = await client.run({});
      for (const round of [1, 2, 3]) await agent.done(await agent.takeOne(), lost(`worker exited with code ${round}`));
      expect((await client.call(`/status/${id}`)).body).toMatchObject({
        status: 'FAILED',
        error: expect.stringContaining('worker exited with code 3'),
      });
      expect(await historyOf(client, id)).toHaveLength(3);
    },
    TEST_MS,
  );

  test('is not what a handler reports: that is final at once', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    await agent.done(await agent.takeOne(), { kind: 'failed', error: 'no such model', output: null });
    expect((await client.call(`/status/${id}`)).body).toMatchObject({ status: 'FAILED', error: 'no such model' });
    expect(await historyOf(client, id)).toHaveLength(1);
  });
});

describe('a cancelled attempt', () => {
  test('says when its worker really let go, once its host has said so', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    await client.post(`/cancel/${id}`, {});
    await eventually(() => expect(agent.stops).toMatchObject([{ jobId: id, attempt: 1 }]));
    expect(await historyOf(client, id)).toMatchObject([{ outcome: 'CANCELLED', stoppedAt: null }]);
    const told = await agent.done(job, { kind: 'stopped', agoMs: 40, logTail: ['loading', 'stopping'] });
    expect(told).toEqual({ outcome: 'recorded' });
    const [attempt] = await historyOf(client, id);
    expect(attempt).toMatchObject({ logTail: ['loading', 'stopping'] });
    const agoMs = systemClock.nowMs() - Date.parse(String(attempt?.['stoppedAt']));
    expect(agoMs).toBeGreaterThanOrEqual(0);
    expect(agoMs).toBeLessThan(60_000);
    expect(await agent.done(job, { kind: 'stopped', agoMs: 0 })).toEqual({ outcome: 'recorded' });
    expect((await historyOf(client, id))[0]).toEqual(attempt);
    expect((await client.call(`/status/${id}`)).body).toMatchObject({ status: 'CANCELLED' });
  });

  test('is not let go by a host that does not hold it, and a completed one never', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    expect(await agent.done(job, { kind: 'stopped', agoMs: 0 })).toEqual({ outcome: 'superseded' });
    await agent.done(job, completed('done'));
    expect(await agent.done(job, { kind: 'stopped', agoMs: 0 })).toEqual({ outcome: 'superseded' });
    const forged = { ...job, token: 'guessed' };
    expect(await agent.done(forged, { kind: 'stopped', agoMs: 0 })).toEqual({ outcome: 'superseded' });
    expect((await client.call(`/status/${id}`)).body).toMatchObject({ status: 'COMPLETED' });
  });
});

test(
  'a job whose host says nothing at its timeout is TIMED_OUT by the router, 15 s later at the latest',
  async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({}, { policy: { executionTimeout: 5_000 } });
    const job = await agent.takeOne();
    await eventually(
      async () => {
        await agent.renew(job);
        expect((await client.call(`/status/${id}`)).body).toMatchObject({
          status: 'TIMED_OUT',
          error: 'executionTimeout exceeded',
        });
      },
      { deadlineMs: 90_000, intervalMs: 500 },
    );
    expect(await agent.done(job, completed('late'))).toEqual({ outcome: 'recorded' });
    expect((await client.call(`/status/${id}`)).body).toMatchObject({ status: 'TIMED_OUT' });
    expect(agent.stops).toMatchObject([{ jobId: id }]);
    expect(await agent.done(job, { kind: 'stopped', agoMs: 0 })).toEqual({ outcome: 'recorded' });
  },
  TEST_MS,
);
