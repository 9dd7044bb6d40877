import { describe, expect, test } from '@jest/globals';
import { HardwareCatalog, SHIPPED_TABLES } from '@berth/domain';
import { GIB, INVENTORY, SPEC } from './fleet-bench.js';
import { useControlPlane } from './control-plane-bench.js';

const T4 = { id: 'T4', name: 'T4', memoryGb: 16, pool: 'TURING_16', reportedAs: ['Tesla T4'] };
const bench = useControlPlane(new HardwareCatalog({ ...SHIPPED_TABLES, gpuCards: [...SHIPPED_TABLES.gpuCards, T4] }));
const { fleet } = bench;

const QUEUED = { e1: { queuedNormal: 1, oldestQueuedAtMs: 1 } };
const RUNNING = { e1: { running: 1 } };

const phases = async (): Promise<readonly string[]> =>
  (await bench.assigned('e1')).map(
    ({ hostId, isDraining, phase }) => `${hostId} ${phase}${isDraining ? ' draining' : ''}`,
  );

describe('the control loops', () => {
  test('take an endpoint from its first job to zero again', async () => {
    await fleet.addEndpoint('e1');
    const host = await bench.addAgent('h1');
    await bench.startControllers('first');

    bench.demand = QUEUED;
    await bench.until(async () => {
      expect(host.desired).toMatchObject([{ endpointId: 'e1', intent: 'running', container: SPEC.container }]);
      expect(await phases()).toEqual(['h1 preparing']);
    });
    expect(await fleet.decision('e1')).toMatchObject({ desired: 1 });

    host.phase = 'busy';
    bench.demand = RUNNING;
    await bench.until(async () => {
      expect(await phases()).toEqual(['h1 busy']);
    });

    host.phase = 'idle';
    bench.demand = {};
    await bench.until(async () => {
      expect(await fleet.decision('e1')).toMatchObject({ desired: 1, reason: 'idle-grace' });
    });
    await bench.until(async () => {
      expect(await fleet.workers()).toEqual([]);
      expect(await phases()).toEqual([]);
      expect(host.desired).toEqual([]);
    });
    expect(await fleet.decision('e1')).toMatchObject({ desired: 0, reason: 'no-demand' });
    expect(host.wakes.length).toBeGreaterThan(1);
    expect(host.wakes).not.toContain(false);
  });

  test('replace what a silent host had on another, and the silent one is told so when it returns', async () => {
    await fleet.addEndpoint('e1');
    const first = await bench.addAgent('h1');
    first.phase = 'busy';
    await bench.startControllers('first');
    bench.demand = RUNNING;
    await bench.until(async () => {
      expect(await phases()).toEqual(['h1 busy']);
    });
    const second = await bench.addAgent('h2');
    second.phase = 'idle';
    first.isSilent = true;
    await bench.until(async () => {
      expect(await phases()).toEqual(['h2 idle']);
    });
    first.isSilent = false;
    await bench.until(() => {
      expect(first.desired).toEqual([]);
      expect(second.desired).toHaveLength(1);
    });
  });

  test('tell the routers what a job waits for, and that they live', async () => {
    await fleet.addEndpoint('e1');
    const router = await bench.nats.connectAs('router');
    let pulses = 0;
    router.subscribe('control.pulse', { callback: () => void (pulses += 1) });
    await bench.startControllers('first');
    bench.demand = QUEUED;
    await bench.until(async () => {
      expect(await bench.outlook('e1')).toMatchObject({ desired: 1, unplaced: { reason: 'no-hosts' } });
    });
    const host = await bench.addAgent('h1');
    host.phase = 'starting';
    await bench.until(async () => {
      expect(await bench.outlook('e1')).toMatchObject({ unplaced: null, coming: [{ stage: 'starting' }] });
    });
    expect(pulses).toBeGreaterThan(1);
    bench.demand = {};
    await bench.until(async () => {
      expect(await bench.outlook('e1')).toBeUndefined();
    });
    await router.close();
  });

  test('write again what somebody else removed from the bucket, or put there', async () => {
    await fleet.addEndpoint('e1');
    await bench.addAgent('h1');
    await bench.startControllers('first');
    bench.demand = QUEUED;
    await bench.until(async () => {
      expect(await phases()).toHaveLength(1);
    });
    const intruder = await bench.nats.connectAs('management');
    intruder.publish('$KV.assignments.e1', '{"v":1,"value":{"endpointId":"e1","workers":[]}}');
    intruder.publish('$KV.assignments.e2', '{"v":1,"value":{"endpointId":"e2","workers":[]}}');
    await bench.until(async () => {
      expect(await phases()).toHaveLength(1);
      expect(await bench.assigned('e2')).toEqual([]);
    });
  });

  test('go on when the broker was killed meanwhile', async () => {
    await fleet.addEndpoint('e1');
    const host = await bench.addAgent('h1');
    await bench.startControllers('first');
    await bench.until(() => {
      expect(host.desired).toEqual([]);
    });
    await bench.nats.restart('kill');
    bench.demand = QUEUED;
    await bench.until(async () => {
      expect(host.desired).toHaveLength(1);
      expect(await phases().catch(() => [])).toHaveLength(1);
    });
  });

  test('go on when the database was killed meanwhile, and no worker is lost for that', async () => {
    await fleet.addEndpoint('e1');
    const host = await bench.addAgent('h1');
    host.phase = 'busy';
    await bench.startControllers('first');
    bench.demand = RUNNING;
    await bench.until(async () => {
      expect(await phases()).toEqual(['h1 busy']);
    });
    const [before] = await fleet.workers();
    await fleet.postgres.restart('kill');
    bench.demand = { e1: { running: 1, queuedNormal: 1, oldestQueuedAtMs: 1 } };
    await bench.until(() => {
      expect(host.desired).toHaveLength(2);
    });
    expect((await fleet.workers()).map(({ id }) => id)).toContain(before?.id);
  });

  test('drop a message that cannot be read, and hear the next one', async () => {
    await fleet.addEndpoint('e1');
    await bench.addAgent('h1');
    await bench.startControllers('first');
    const router = await bench.nats.connectAs('router');
    for (const text of ['', '{}', '{"routerId":"router","shards":[],"endpoints":[{}],"unknown":[]}']) {
      router.publish('demand.router', text);
    }
    bench.demand = QUEUED;
    await bench.until(async () => {
      expect(await phases()).toHaveLength(1);
    });
  });
});

describe('of two controllers processes', () => {
  test('one leads, and the other takes over as soon as it is stopped', async () => {
    await fleet.addEndpoint('e1');
    const host = await bench.addAgent('h1');
    const first = await bench.startControllers('first');
    await bench.until(() => {
      expect(first.lease.isLeader()).toBe(true);
    });
    const second = await bench.startControllers('second');
    bench.demand = QUEUED;
    await bench.until(() => {
      expect(host.desired).toHaveLength(1);
    });
    expect([first.lease.isLeader(), second.lease.isLeader()]).toEqual([true, false]);

    await first.stop();
    bench.demand = { e1: { queuedNormal: 2, oldestQueuedAtMs: 1 } };
    await bench.until(() => {
      expect(host.desired).toHaveLength(2);
    });
    expect([first.lease.isLeader(), second.lease.isLeader()]).toEqual([false, true]);
    expect(second.lease.currentTerm().number).toBe(2);
  });

  test('the other takes over when the first is cut off from the database, and no worker is placed twice', async () => {
    await fleet.addEndpoint('e1');
    const host = await bench.addAgent('h1');
    const first = await bench.startControllers('first', 1_000);
    await bench.until(() => {
      expect(first.lease.isLeader()).toBe(true);
    });
    const second = await bench.startControllers('second', 1_000);
    await first.source.destroy();
    bench.demand = QUEUED;
    await bench.until(() => {
      expect(second.lease.isLeader()).toBe(true);
      expect(host.desired).toHaveLength(1);
    });
    expect(first.lease.isLeader()).toBe(false);
    expect(await fleet.workers()).toHaveLength(1);
  });

  test('only the one that leads shows what the fleet lacks', async () => {
    await fleet.addEndpoint('e1');
    const first = await bench.startControllers('first', 1_000);
    bench.demand = QUEUED;
    const lacks = 'berth_controllers_unplaced_workers{reason="no-hosts"} 1';
    await bench.until(async () => {
      expect(await first.shown()).toContain(lacks);
    });
    const second = await bench.startControllers('second', 1_000);
    expect(await second.shown()).not.toContain(lacks);
    await first.source.destroy();
    await bench.until(async () => {
      expect(await second.shown()).toContain(lacks);
    });
    expect(await first.shown()).not.toContain(lacks);
  });
});

test("an operator's card in a pool of its own is served by a host that reports it", async () => {
  const gpu = { pools: ['TURING_16'], excludedTypes: [], count: 1, allowedCudaVersions: [], minCudaVersion: null };
  await fleet.addEndpoint('e1', { gpu, cpu: null });
  const host = await bench.addAgent('h1');
  await bench.startControllers('first');
  bench.demand = QUEUED;
  await bench.until(async () => {
    expect(await fleet.decision('e1')).toMatchObject({ waiting: [{ reason: 'gpu-type' }] });
  });
  host.inventory = { ...INVENTORY, gpus: [{ index: 0, typeId: 'Tesla T4', memoryBytes: 16 * GIB }] };
  host.phase = 'idle';
  await bench.until(async () => {
    expect(host.desired).toMatchObject([
      { resources: { gpuTypeId: 'Tesla T4', gpuCount: 1 }, gpuType: { id: 'T4', pool: 'TURING_16' } },
    ]);
    expect(await phases()).toEqual(['h1 idle']);
  });
});
