import type { EndpointOutlook, WorkerId } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { newWorkerId } from './bench/control-plane.js';
import type { JobClient } from './bench/job-client.js';
import { RouterBench } from './bench/router-bench.js';

const bench = new RouterBench();
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const SINCE_MS = 1_700_000_000_000;

const outlook = (more: Partial<EndpointOutlook> = {}): EndpointOutlook => ({
  desired: 1,
  scaling: { reason: 'demand', sinceMs: SINCE_MS },
  coming: [],
  unplaced: null,
  ...more,
});

/** The member `queue`, with a control plane that lives, once it is as expected. */
async function expectQueue(client: JobClient, id: string, expected: object): Promise<void> {
  await eventually(
    async () => {
      bench.controlPlane.pulse();
      const { body } = await client.status(id);
      expect(body).toMatchObject({ status: 'IN_QUEUE', queue: expected });
    },
    { deadlineMs: 90_000 },
  );
}

/** An endpoint with workers that the control plane knows of, and none that really takes jobs. */
async function endpoint(...phases: readonly ('busy' | 'idle' | 'starting' | 'waiting')[]) {
  const tenant = await bench.controlPlane.tenant();
  const endpointId = await bench.controlPlane.endpoint(tenant.accountId);
  const hostId = await bench.controlPlane.host();
  const workers = phases.map((phase) => ({ id: newWorkerId(), hostId, phase }));
  const tell = (told?: EndpointOutlook) => bench.controlPlane.assign(endpointId, workers, told);
  return { client: bench.client(endpointId, tenant), tell, workers };
}

describe('a job that waits says why', () => {
  test('while nobody hears of the control plane, and no longer', async () => {
    const { client } = await endpoint();
    const id = await client.run({});
    await eventually(
      async () => {
        expect((await client.status(id)).body.queue).toMatchObject({ reason: 'unknown' });
      },
      { deadlineMs: 90_000, intervalMs: 250 },
    );
    const { body } = await client.status(id);
    expect(body.queue.detail).toMatch(/silent since/);
    bench.controlPlane.pulse();
    await eventually(async () => {
      expect((await client.status(id)).body.queue.detail).not.toMatch(/silent since/);
    });
  });

  test('with its place, a sentence, an instant, and what can be said of its start', async () => {
    const { client, tell } = await endpoint('busy', 'busy', 'busy');
    await tell(outlook({ desired: 3, scaling: { reason: 'at-max', sinceMs: SINCE_MS } }));
    const ids = [await client.run({}), await client.run({}), await client.run({})];
    const low = await client.run({}, { policy: { lowPriority: true } });
    const last = await client.run({});
    for (const [n, id] of [...ids, last, low].entries()) {
      await expectQueue(client, id, {
        position: n + 1,
        reason: 'at-max-workers',
        detail: expect.stringContaining('workers.max'),
        since: expect.stringMatching(INSTANT),
        estimatedStartMs: null,
      });
    }
    expect((await client.call(`/status-sync/${low}?wait=1000`)).body.queue).toMatchObject({ position: 5 });
    expect((await client.post(`/status/${low}`, '')).body.queue).toMatchObject({ position: 5 });
    await client.post(`/cancel/${ids[0] ?? ''}`, {});
    await expectQueue(client, low, { position: 4 });
  });

  test('and stops saying it once it is taken', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    await expectQueue(client, id, { position: 1, reason: 'waiting-for-worker', estimatedStartMs: 0 });
    const job = await agent.takeOne();
    expect((await client.status(id)).body).not.toHaveProperty('queue');
    await agent.complete(job, {});
    expect((await client.status(id)).body).not.toHaveProperty('queue');
  });

  test('between two attempts', async () => {
    const { client, agent } = await bench.scene();
    const id = await client.run({});
    await agent.done(await agent.takeOne(), { kind: 'lost', reason: 'worker crashed', isCharged: true });
    expect((await client.status(id)).body.queue).toMatchObject({
      reason: 'retry-delay',
      detail: expect.stringMatching(/^attempt 2 starts/),
    });
    await agent.complete(await agent.takeOne(), {});
  });

  test('where the endpoint may have no worker', async () => {
    const tenant = await bench.controlPlane.tenant();
    const endpointId = await bench.controlPlane.endpoint(tenant.accountId, { workersMax: 0 });
    const client = bench.client(endpointId, tenant);
    await expectQueue(client, await client.run({}), { reason: 'workers-max-zero' });
  });

  test('where nobody wants a worker for it', async () => {
    const { client } = await endpoint();
    const id = await client.run({}, { policy: { lowPriority: true } });
    await expectQueue(client, id, { reason: 'low-priority', position: 1 });
  });

  test('where the control plane is about to decide', async () => {
    const { client } = await endpoint();
    await expectQueue(client, await client.run({}), { reason: 'awaiting-decision' });
  });

  test('where no host is there, or none has room', async () => {
    const { client, tell } = await endpoint();
    const id = await client.run({});
    const unplaced = { count: 1, reason: 'no-hosts', detail: 'there is no host', sinceMs: SINCE_MS, hosts: [] };
    await tell(outlook({ unplaced }));
    await expectQueue(client, id, { reason: 'no-hosts' });
    const hosts = [{ id: 'h1', reason: 'vcpu', detail: 'the worker needs 4 vCPU, 2 are free' }];
    await tell(outlook({ unplaced: { ...unplaced, reason: 'vcpu', hosts } }));
    await expectQueue(client, id, { reason: 'no-capacity', detail: expect.stringContaining('h1 (vcpu): the worker') });
  });

  test('where a worker is on its way, or fails', async () => {
    const { client, tell, workers } = await endpoint('waiting');
    const id = await client.run({});
    const coming = {
      id: workers[0]?.id ?? ('w' as WorkerId),
      stage: 'preparing',
      reason: 'worker-starting',
      detail: 'the image is being pulled, 43 %',
      nextStartAtMs: null,
      sinceMs: SINCE_MS,
      toldAtMs: SINCE_MS,
    } as const;
    await tell(outlook({ coming: [coming] }));
    await expectQueue(client, id, { reason: 'worker-starting', detail: expect.stringContaining('43 %') });
    const delayed = { ...coming, stage: 'delayed', nextStartAtMs: systemClock.nowMs() + 60_000 } as const;
    await tell(outlook({ coming: [delayed] }));
    await expectQueue(client, id, { reason: 'start-delayed', detail: expect.stringMatching(/^next start in \d+ s; /) });
    await tell(outlook({ coming: [{ ...delayed, reason: 'throttled', nextStartAtMs: systemClock.nowMs() + 60_000 }] }));
    await expectQueue(client, id, { reason: 'throttled', detail: expect.stringMatching(/^next start in \d+ s; /) });
    await tell(
      outlook({ coming: [{ ...coming, reason: 'image-error', detail: 'image-missing: Image a/b is not there' }] }),
    );
    await expectQueue(client, id, { reason: 'image-error', detail: expect.stringContaining('a/b') });
  });

  test('and gets an estimate from the pace, where there is one', async () => {
    const { client, agent } = await bench.scene();
    await client.run({});
    await agent.complete(await agent.takeOne(), {});
    await client.run({});
    const running = await agent.takeOne();
    await bench.controlPlane.assign(agent.place.endpointId, [
      { ...agent.place, id: agent.place.workerId, phase: 'busy' },
    ]);
    const id = await client.run({});
    await expectQueue(client, id, { reason: 'waiting-for-worker', estimatedStartMs: expect.any(Number) });
    await agent.complete(running, {});
  });
});
