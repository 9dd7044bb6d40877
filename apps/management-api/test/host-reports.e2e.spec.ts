import { createHash } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { hostSubject, inboxPrefix, type HostReply } from '@berth/contracts';
import { GB_BYTES, type HostId, type Inventory, type ObservedWorker } from '@berth/domain';
import { AgentTransport } from '@berth/messaging';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();

const SECRET = 'a-long-secret';
const INVENTORY: Inventory = {
  vcpus: 8,
  isOvercommitted: false,
  memoryBytes: 16_000_000_000,
  diskBytes: 100_000_000_000,
  gpus: [{ index: 0, typeId: 'NVIDIA L4', memoryBytes: 24_000_000_000 }],
  areGpusSimulated: true,
  cudaVersion: '12.4',
  runtime: 'process',
  images: ['local/echo'],
};
const HOSTILE_COUNT = 5_000;

let agent: AgentTransport;
let endpointId: string;
let hostId: HostId;
let sequence = 0;

/** A host with the workers `good` and `bad`. */
beforeEach(async () => {
  endpointId = (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id;
  const invited = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'host' } });
  hostId = invited.body.hostId;
  agent = new AgentTransport(await bench.nats.connect({ inboxPrefix: inboxPrefix(hostId) }));
  const secretHash = createHash('sha256').update(SECRET).digest('hex');
  const join = { token: invited.body.token, secretHash, inventory: INVENTORY };
  await agent.request(hostSubject(hostId, 'join'), join, { timeoutMs: 5_000 });
  const resources = { vcpus: 2, memoryBytes: 4 * GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: null, gpuCount: 0 };
  for (const id of ['good', 'bad']) {
    await bench.source.query(
      `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources) VALUES ($1, $2, $3, 1, 'running', $4)`,
      [`${id}-${hostId}`, endpointId, hostId, JSON.stringify(resources)],
    );
  }
});

const observed = (id: string, more: object = {}): object => ({
  workerId: `${id}-${hostId}`,
  endpointId,
  release: 1,
  phase: 'idle',
  reason: '',
  runningJobs: 0,
  failedStarts: 0,
  phaseSinceMs: 1,
  startedAtMs: 1,
  gpuTypeId: null,
  ...more,
});

async function report(workers: unknown, inventory: unknown = INVENTORY): Promise<HostReply> {
  sequence += 1;
  const request = { secret: SECRET, instanceId: 'i1', sequence, inventory, workers };
  return (await agent.request(hostSubject(hostId, 'report'), request, { timeoutMs: 5_000 })) as HostReply;
}

async function observations(): Promise<Record<string, ObservedWorker | null>> {
  const rows: readonly { id: string; observed: ObservedWorker | null }[] = await bench.source.query(
    'SELECT id, observed FROM workers WHERE host_id = $1',
    [hostId],
  );
  return Object.fromEntries(rows.map(({ id, observed: seen }) => [id.split('-', 1).join(), seen] as const));
}

const isOnline = async (): Promise<boolean> => (await bench.call(`GET /v2/hosts/${hostId}`)).body.isOnline as boolean;

test('a host that says the same report again is told what it shall have, and nothing of it is read', async () => {
  await report([observed('good')]);
  sequence -= 1;
  const again = await report([observed('good', { reason: 'again' }), 'no worker'], 'no inventory');
  expect(again.desired).toHaveLength(2);
  expect(again.dropped).toBeUndefined();
  expect((await observations())['good']).toMatchObject({ reason: '' });
});

describe('a report in which one worker', () => {
  test.each<[string, object, string]>([
    ['has a reason of 5,000 characters', { reason: 'x'.repeat(5_000) }, 'xxx'],
    ['has a reason with a zero, which the database does not take', { reason: 'a\0b' }, 'a b'],
    ['has half of a character in its reason', { reason: 'a\ud83d' }, 'a\ufffd'],
  ])('%s is taken, and the text is shown clean', async (_, more, shown) => {
    const { desired, dropped } = await report([observed('bad', more), observed('good')]);
    expect(dropped).toBeUndefined();
    expect(desired).toHaveLength(2);
    const { bad, good } = await observations();
    expect(good).toMatchObject({ phase: 'idle' });
    expect(bad?.reason).toContain(shown);
    expect(bad?.reason.length).toBeLessThanOrEqual(2_000);
    expect(await isOnline()).toBe(true);
  });

  test.each<[string, object]>([
    ['has a phase that there is not', { phase: 'haunted' }],
    ['names no worker', { workerId: 7 }],
    ['has a zero in its id', { workerId: 'a\0b' }],
    ['runs more jobs than a number of the database can hold', { runningJobs: 1e300 }],
    ['began at no instant', { startedAtMs: 1e300 }],
    ['says nothing of what it does', { phase: undefined }],
  ])('%s is taken without that one, and the host hears so', async (_, more) => {
    const { desired, dropped } = await report([observed('good'), observed('bad', more)]);
    expect(dropped).toMatchObject({ count: 1, examples: [{ member: 'workers[1]', reason: expect.any(String) }] });
    expect(desired).toHaveLength(2);
    expect(await observations()).toMatchObject({ good: { phase: 'idle' }, bad: null });
    expect(await isOnline()).toBe(true);
    const metrics = await (await fetch(`${bench.operationsUrl}/metrics`)).text();
    expect(metrics).toMatch(/berth_management_report_entries_dropped_total [1-9]/);
  });
});

describe('a report', () => {
  test('of far more workers than a host can have is taken up to a bound', async () => {
    const many = Array.from({ length: HOSTILE_COUNT }, (_, order) => ({ workerId: `x${order}` }));
    const { dropped } = await report([observed('good'), ...many, observed('bad')]);
    expect(dropped?.count).toBe(HOSTILE_COUNT + 1);
    expect(dropped?.examples.length).toBeLessThanOrEqual(8);
    expect(await observations()).toMatchObject({ good: { phase: 'idle' }, bad: null });
  });

  test('that says two things of one worker is believed once', async () => {
    const { dropped } = await report([observed('bad', { phase: 'busy' }), observed('bad'), observed('good')]);
    expect(dropped).toMatchObject({ count: 1, examples: [{ member: 'workers', reason: expect.any(String) }] });
    expect(await observations()).toMatchObject({ good: { phase: 'idle' }, bad: { phase: 'busy' } });
  });

  test('whose workers are no list keeps the host alive', async () => {
    expect((await report('many')).dropped).toMatchObject({ count: 1, examples: [{ member: 'workers' }] });
    expect(await isOnline()).toBe(true);
  });

  test('with one GPU and one image that cannot be read is taken with the others', async () => {
    const [gpu] = INVENTORY.gpus;
    const gpus = [gpu, { index: 1, typeId: 7, memoryBytes: 1 }, { ...gpu, index: 2, typeId: 'NVIDIA\0 L4' }];
    const { dropped } = await report([observed('good')], { ...INVENTORY, gpus, images: ['local/echo', 7] });
    expect(dropped).toMatchObject({ count: 2 });
    const { body } = await bench.call(`GET /v2/hosts/${hostId}`);
    expect(body.inventory).toEqual({ ...INVENTORY, gpus: [gpu, { ...gpu, index: 2, typeId: 'NVIDIA  L4' }] });
    expect(await observations()).toMatchObject({ good: { phase: 'idle' } });
  });

  test('without an inventory that can be read leaves the one before, and its workers are taken', async () => {
    const { dropped } = await report([observed('good')], { ...INVENTORY, vcpus: 'many' });
    expect(dropped).toMatchObject({ count: 1, examples: [{ member: 'inventory' }] });
    expect((await bench.call(`GET /v2/hosts/${hostId}`)).body).toMatchObject({ inventory: INVENTORY, isOnline: true });
    expect(await observations()).toMatchObject({ good: { phase: 'idle' } });
  });
});
