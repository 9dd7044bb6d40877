import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import type { Answer } from './bench/job-client.js';
import { expectAllFound, expectOutage, readinessOf, untilReady } from './bench/outage-report.js';
import { RouterBench } from './bench/router-bench.js';

const bench = new RouterBench();

describe('a broker that goes away under load', () => {
  const SUBMITTERS = 8;
  const REASONS = /^The job store does not answer at the moment|^The job could not be stored; nothing was accepted/;

  test.each(['kill', 'stop'] as const)(
    '(%s): each submit is kept or refused with a time to wait; it goes on by itself',
    async (how) => {
      const { client } = await bench.scene();
      const accepted: string[] = [];
      const refused: Answer[] = [];
      let isOver = false;
      const submit = async (): Promise<void> => {
        while (!isOver) {
          const answer = await client.post('/run', { input: {} });
          if (answer.status === 200) accepted.push(answer.body.id as string);
          else refused.push(answer);
        }
      };
      const submitting = Promise.all(Array.from({ length: SUBMITTERS }, submit));
      await eventually(() => {
        expect(accepted.length).toBeGreaterThan(100);
      });
      await bench.nats.restart(how);
      const before = accepted.length;
      await eventually(
        () => {
          expect(accepted.length).toBeGreaterThan(before + 100);
        },
        { deadlineMs: 45_000 },
      );
      isOver = true;
      await submitting;
      for (const answer of refused) expectOutage(answer, REASONS);
      await expectAllFound(client, accepted);
    },
    120_000,
  );
});

test('a broker that is away is named on the operations port, and what is known is still told', async () => {
  const { client } = await bench.scene();
  await client.run({});
  await eventually(async () => {
    expect((await client.call('/health')).body.jobs).toMatchObject({ inQueue: 1 });
  });
  await bench.nats.server.kill();
  const report = await readinessOf(bench.router);
  expect(report.status).toBe('not-ready');
  expect(Object.keys(report.dependencies).sort()).toEqual(['directory', 'nats', 'topology', 'view']);
  expect(report.dependencies['nats']).toEqual({ state: 'down', reason: expect.any(String) });
  expect(report.dependencies['directory']).toEqual({ state: 'up' });
  expect((await client.call('/health')).body.jobs).toMatchObject({ inQueue: 1 });
  await bench.nats.restart();
  await untilReady(bench.router);
}, 60_000);
