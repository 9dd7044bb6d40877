import { HEARING_MS } from '../src/job-maintenance/reaper.js';
import { TICKETLESS_GRACE_MS } from '../src/job-maintenance/ticketer.js';
import { INLINE_OUTPUT_MAX_BYTES, encodeJson, type EndpointId, type JobId } from '@berth/domain';
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
    const ended = await agent.takeOne();
    await agent.completeWith(ended, encodeJson('y'.repeat(INLINE_OUTPUT_MAX_BYTES)));
    await client.run({ big: 'x'.repeat(100_000) });
    const job = await agent.takeOne();
    await agent.chunk(job, 0, encodeJson({ output: 'a' }));
    // The first renewal writes the lease.
    await agent.renew(job);
    await client.run({});
    await client.run({}, { policy: { lowPriority: true } });
    expect(await leftOf(endpointId)).toEqual(['BLOB', 'JOBS', 'LEASE', 'OUT', 'QUEUE']);
    await bench.controlPlane.endpoint(tenant.accountId, { id: endpointId, isDeleted: true });
    await eventually(
      async () => {
        expect(agent.stops).toMatchObject([{ jobId: job.jobId, reason: 'cancelled' }]);
        expect(await leftOf(endpointId)).toEqual([]);
      },
      { deadlineMs: 15_000, intervalMs: 200 },
    );
    // What a host that has not heard of it yet still says leaves no trace either.
    expect(await agent.chunk(job, 1, encodeJson({ output: 'b' }))).toEqual({ outcome: 'superseded' });
    expect(await agent.complete(job, 'late')).toEqual({ outcome: 'superseded' });
    expect(await agent.renew(job)).toEqual(['lost']);
    expect(await leftOf(endpointId)).toEqual([]);
  }, 30_000);
});

/** Kinds of streams that still hold anything of the endpoint. */
async function leftOf(endpointId: EndpointId): Promise<readonly string[]> {
  const broker = await Broker.over({ connection: await bench.nats.connect() });
  const left = new Set<string>();
  for await (const { config } of broker.manager.streams.list()) {
    const [kind = ''] = config.name.split('_');
    if (!['JOBS', 'QUEUE', 'LEASE', 'OUT', 'BLOB'].includes(kind)) continue;
    const { state } = await broker.manager.streams.info(config.name, { subjects_filter: `*.*.${endpointId}.>` });
    if (Object.keys(state.subjects ?? {}).length > 0) left.add(kind);
  }
  return [...left].sort();
}
