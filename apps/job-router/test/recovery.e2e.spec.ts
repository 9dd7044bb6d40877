import { HEARING_MS } from '../src/job-maintenance/reaper.js';
import { TICKETLESS_GRACE_MS } from '../src/job-maintenance/find-ticketless.js';
import type { EndpointId, JobId } from '@berth/domain';
import { Broker, JetStreamTickets } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { RouterBench } from './bench/router-bench.js';

/** Short, so that a test can wait for a lease to run out; all else is as in production. */
const LEASE_MS = 2_000;
const bench = new RouterBench({ leaseMs: LEASE_MS });

describe('a host that goes silent', () => {
  test('loses its job to another attempt, and its late result changes nothing', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const silent = await agent.takeOne();
    const again = await agent.takeOne(HEARING_MS + 20_000);
    expect(again).toMatchObject({ jobId: id, attempt: 2, retries: 1 });
    expect(await agent.renew(silent)).toEqual(['lost']);
    expect(await agent.complete(silent, 'late')).toEqual({ outcome: 'superseded' });
    await agent.complete(again, 'second');

    expect((await client.status(id)).body).toMatchObject({ status: 'COMPLETED', output: 'second', retries: 1 });
    await eventually(async () => {
      expect((await client.call('/health')).body.jobs).toMatchObject({ completed: 1, retried: 1, failed: 0 });
    });
  }, 60_000);

  test('keeps its job as long as it renews', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    for (let n = 0; n < 5; n += 1) {
      expect(await agent.renew(job)).toEqual(['renewed']);
      expect(await agent.take({ waitMs: LEASE_MS / 2 })).toEqual({ kind: 'none' });
    }
    expect(await agent.complete(job, 'slow')).toEqual({ outcome: 'recorded' });
    expect((await client.status(id)).body).toMatchObject({ output: 'slow' });
  }, 30_000);
});

describe('maintenance', () => {
  test('gives a job whose ticket was lost a new one', async () => {
    const { client, agent, endpointId } = await bench.scene();
    const id = await client.run({});
    const tickets = new JetStreamTickets(await Broker.over({ connection: await bench.nats.connect() }));
    await tickets.removeFor({ endpointId, jobId: id as JobId }, 1, false);

    expect(await agent.take({ waitMs: 1_000 })).toEqual({ kind: 'none' });
    expect(await agent.takeOne(TICKETLESS_GRACE_MS + 5_000)).toMatchObject({ jobId: id, attempt: 1 });
  }, 30_000);

  test('tells the host of a job whose time to live is over, and the job is 404', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({}, { policy: { ttl: 10_000 } });
    const job = await agent.takeOne();
    expect(job.expiresInMs).toBeLessThanOrEqual(10_000);
    let isOver = false;
    const renewing = (async (): Promise<void> => {
      while (!isOver) {
        await agent.renew(job);
        await agent.take({ waitMs: 500 });
      }
    })();
    await eventually(
      async () => {
        expect((await client.status(id)).status).toBe(404);
        expect(agent.stops).toMatchObject([{ jobId: id, token: job.token, reason: 'expired' }]);
      },
      { deadlineMs: 13_000 },
    );
    isOver = true;
    await renewing;
    expect(await agent.complete(job, 'too late')).toEqual({ outcome: 'superseded' });
  }, 30_000);

  test('cancels the jobs of a deleted endpoint, tells their hosts, and leaves nothing of it', async () => {
    const { client, agent, endpointId, tenant } = await bench.scene();
    await client.run({ big: 'x'.repeat(100_000) });
    const job = await agent.takeOne();
    await client.run({});
    await bench.controlPlane.endpoint(tenant.accountId, { id: endpointId, isDeleted: true });
    await eventually(
      async () => {
        expect(agent.stops).toMatchObject([{ jobId: job.jobId, reason: 'cancelled' }]);
        expect(await leftOf(endpointId)).toEqual([]);
      },
      { deadlineMs: 15_000, intervalMs: 200 },
    );
  }, 30_000);
});

/** Streams that still hold anything of the endpoint. */
async function leftOf(endpointId: EndpointId): Promise<readonly string[]> {
  const broker = await Broker.over({ connection: await bench.nats.connect() });
  const left: string[] = [];
  for await (const { config } of broker.manager.streams.list()) {
    if (!/^(JOBS|QUEUE|LEASE|OUT|BLOB)_/.test(config.name)) continue;
    const { state } = await broker.manager.streams.info(config.name, { subjects_filter: `*.*.${endpointId}.>` });
    if (Object.keys(state.subjects ?? {}).length > 0) left.push(config.name);
  }
  return left;
}
