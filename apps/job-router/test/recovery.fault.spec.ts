import { INLINE_OUTPUT_MAX_BYTES, encodeJson, type EndpointId } from '@berth/domain';
import { Broker } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { tellAllRead } from './bench/read-history.js';
import { RouterBench, type Scene } from './bench/router-bench.js';
import type { ScriptedAgent } from './bench/scripted-agent.js';

const bench = new RouterBench();

/** As the rules of jobs have them. */
const ATTEMPT_LEASE_MS = 30_000;
const STARTED_AFTER_MS = 5_000;

/** Asks for a job that is not there, which takes that long. */
const pass = async (agent: ScriptedAgent, ms: number): Promise<void> => {
  for (let leftMs = ms; leftMs > 0; leftMs -= 5_000) {
    expect(await agent.take({ waitMs: Math.min(leftMs, 5_000) })).toEqual({ kind: 'none' });
  }
};

describe('a host that goes silent', () => {
  /** A loss is the job's own only where its worker had started. */
  async function losesIt({ agent, client }: Scene, isStarted: boolean): Promise<void> {
    const id = await client.run({});
    const silent = await agent.takeOne();
    if (isStarted) {
      await pass(agent, STARTED_AFTER_MS + 500);
      expect(await agent.renew(silent)).toEqual(['renewed']);
    }
    const again = await agent.takeOne(ATTEMPT_LEASE_MS + 15_000);
    const retries = isStarted ? 1 : 0;
    expect(again).toMatchObject({ jobId: id, attempt: 2, retries });
    expect(await agent.renew(silent)).toEqual(['lost']);
    expect(await agent.complete(silent, 'late')).toEqual({ outcome: 'superseded' });
    await agent.complete(again, 'second');

    const { body } = await client.status(id);
    expect([body.status, body.output, body.retries ?? 0]).toEqual(['COMPLETED', 'second', retries]);
    await eventually(async () => {
      expect((await client.call('/health')).body.jobs).toMatchObject({ completed: 1, retried: 1, failed: 0 });
    });
  }

  test('loses its job to another attempt, its late result changes nothing, and only a start is charged', async () => {
    const scenes = [await bench.scene(), await bench.scene()] as const;
    await Promise.all([losesIt(scenes[0], true), losesIt(scenes[1], false)]);
  });

  test('keeps its job as long as it renews', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    for (let n = 0; n < 3; n += 1) {
      expect(await agent.renew(job)).toEqual(['renewed']);
      await pass(agent, ATTEMPT_LEASE_MS / 2);
    }
    expect(await agent.complete(job, 'slow')).toEqual({ outcome: 'recorded' });
    const { body } = await client.status(id);
    expect([body.output, body.retries ?? 0]).toEqual(['slow', 0]);
  });
});

describe('what time and deletion bring about', () => {
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
      { deadlineMs: 90_000 },
    );
    isOver = true;
    await renewing;
    expect(await agent.complete(job, 'too late')).toEqual({ outcome: 'superseded' });
  });

  test('cancels the jobs of a deleted endpoint, tells their hosts, and leaves nothing but that it was', async () => {
    const { client, agent, endpointId, tenant } = await bench.scene();
    await client.run({ big: 'x'.repeat(100_000) });
    const ended = await agent.takeOne();
    await agent.completeWith(ended, encodeJson('y'.repeat(INLINE_OUTPUT_MAX_BYTES)));
    await client.run({ big: 'x'.repeat(100_000) });
    const job = await agent.takeOne();
    await agent.chunk(job, 0, encodeJson({ output: 'a' }));
    await agent.renew(job);
    await client.run({});
    await client.run({}, { policy: { lowPriority: true } });
    const all = await leftOf(endpointId);
    expect(Object.keys(all)).toEqual(['BLOB', 'LOG', 'OUT']);
    expect(all.LOG).toBeGreaterThan(1);
    await bench.controlPlane.endpoint(tenant.accountId, { id: endpointId, isDeleted: true });
    const history = await bench.nats.connect();
    await eventually(
      async () => {
        expect(agent.stops).toMatchObject([{ jobId: job.jobId, reason: 'endpoint deleted' }]);
        await tellAllRead(history);
        expect(await leftOf(endpointId)).toEqual({ LOG: 1 });
      },
      { deadlineMs: 90_000, intervalMs: 500 },
    );
    // What a host that has not heard of it yet still says leaves no trace either.
    expect(await agent.chunk(job, 1, encodeJson({ output: 'b' }))).toEqual({ outcome: 'superseded' });
    expect(await agent.complete(job, 'late')).toEqual({ outcome: 'superseded' });
    expect(await agent.renew(job)).toEqual(['lost']);
    expect(await leftOf(endpointId)).toEqual({ LOG: 1 });
  });
});

// Last, since the router that every test may use dies here.
describe('an owner that dies', () => {
  test('loses no job that waits or runs, and charges none for it', async () => {
    const scene = await bench.scene();
    const { agent, client } = scene;
    const ids = await Promise.all(Array.from({ length: 5 }, (_, n) => client.run({ n })));
    const held = [await agent.takeOne(), await agent.takeOne()];
    // Whoever begins is given half of the shards, so both have died before the end of the test.
    for (const doomed of [bench.router, await bench.startRouter()]) doomed.crash();
    const survivor = await bench.startRouter();
    const after = bench.client(scene.endpointId, scene.tenant, survivor);
    await eventually(async () => expect(await agent.renew(...held)).toEqual(['renewed', 'renewed']), {
      deadlineMs: 90_000,
    });
    const waiting = ids.filter((id) => !held.some(({ jobId }) => jobId === id));
    for (const id of waiting) {
      const job = await agent.takeOne();
      expect(job).toMatchObject({ jobId: id, attempt: 1, retries: 0 });
      held.push(job);
    }
    for (const job of held) expect(await agent.complete(job, job.jobId)).toEqual({ outcome: 'recorded' });
    for (const id of ids) {
      const { body } = await after.status(id);
      expect([body.status, body.output, body.retries ?? 0]).toEqual(['COMPLETED', id, 0]);
    }
    expect((await after.call('/health')).body.jobs).toMatchObject({ completed: ids.length, retried: 0, failed: 0 });
  });
});

/** How many messages each kind of stream holds of the endpoint; none where it has none. */
async function leftOf(endpointId: EndpointId): Promise<Readonly<Record<string, number>>> {
  const broker = await Broker.over({ connection: await bench.nats.connect() });
  const left: Record<string, number> = {};
  for await (const { config } of broker.manager.streams.list()) {
    const [kind = ''] = config.name.split('_');
    if (!['BLOB', 'LOG', 'OUT'].includes(kind)) continue;
    const filter = kind === 'LOG' ? `log.*.${endpointId}` : `*.*.${endpointId}.>`;
    const { state } = await broker.manager.streams.info(config.name, { subjects_filter: filter });
    const count = Object.values(state.subjects ?? {}).reduce((sum, each) => sum + each, 0);
    if (count > 0) left[kind] = (left[kind] ?? 0) + count;
  }
  return Object.fromEntries(Object.entries(left).sort());
}
