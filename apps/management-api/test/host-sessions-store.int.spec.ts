import type { EndpointId, HostId, ObservedWorker, WorkerId } from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { EndpointEntity, HostEntity, JoinTokenEntity, ReleaseEntity } from '../src/persistence/entities/index.js';
import type { HostReport } from '../src/host-sessions/take-report.js';
import { INVENTORY, observed, SPEC, useFleetBench } from './fleet-bench.js';

const bench = useFleetBench();

const H1 = 'h1' as HostId;
const TOKEN = 'a'.repeat(64);
const SECRET = '1'.repeat(64);
const OTHER_SECRET = '2'.repeat(64);
const MINUTE_MS = 60_000;

const host = (): Promise<HostEntity> => bench.source.getRepository(HostEntity).findOneByOrFail({ id: 'h1' });
const token = (): Promise<JoinTokenEntity> =>
  bench.source.getRepository(JoinTokenEntity).findOneByOrFail({ hostId: 'h1' });

async function addNewHost(): Promise<void> {
  await bench.addHost('h1', { inventory: null, lastSeenAt: null });
  await bench.addJoinToken('h1', TOKEN, bench.clock.nowMs() + MINUTE_MS);
}

const join = (secretHash = SECRET, tokenHash = TOKEN, hostId = H1): Promise<boolean> =>
  bench.sessions.join(hostId, tokenHash, { secretHash, inventory: INVENTORY, nowMs: bench.clock.nowMs() });

const report = (
  sequence: number,
  workers: readonly ObservedWorker[] = [],
  more: Partial<HostReport> = {},
): Promise<string> =>
  bench.sessions.record({
    hostId: H1,
    instanceId: 'first',
    sequence,
    inventory: INVENTORY,
    workers,
    receivedAtMs: bench.clock.nowMs(),
    ...more,
  });

const RESOURCES = { vcpus: 2, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };

async function addWorker(
  id: string,
  hostId = 'h1',
  row: Partial<{ release: number; restarts: number }> = {},
): Promise<void> {
  const { release = 1, restarts = 0 } = row;
  await bench.source.query(
    `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources, restarts, created_at)
     VALUES ($1, 'e1', $2, $3, 'running', $4, $5, $6)`,
    [id, hostId, release, RESOURCES, restarts, new Date(bench.clock.nowMs())],
  );
}

describe('joining', () => {
  test('takes the secret and the inventory, and uses the token up', async () => {
    await addNewHost();
    expect(await bench.sessions.tokenState(H1, TOKEN, bench.clock.nowMs())).toBe('good');
    expect(await join()).toBe(true);
    expect(await host()).toMatchObject({
      secretHash: SECRET,
      inventory: INVENTORY,
      lastSeenAt: (await token()).usedAt,
    });
    expect(await bench.sessions.tokenState(H1, TOKEN, bench.clock.nowMs())).toBe('used');
    expect(await bench.sessions.find(H1)).toEqual({
      ...{ secretHash: SECRET, dataCenterId: 'local' },
      ...{ instanceId: null, reportSequence: 0 },
    });
  });

  test('works once for one token; the same agent may ask again, also when the time is over', async () => {
    await addNewHost();
    await join();
    expect(await join(OTHER_SECRET)).toBe(false);
    await bench.clock.advance(2 * MINUTE_MS);
    expect(await join()).toBe(true);
    expect(await host()).toMatchObject({ secretHash: SECRET });
  });

  test('is won by one of two agents that race with one token', async () => {
    await addNewHost();
    const rivals = Array.from({ length: 8 }, (_, index) => String(index).repeat(64));
    const joined = await Promise.all(rivals.map((secret) => join(secret)));
    expect(joined.filter(Boolean)).toHaveLength(1);
    expect((await host()).secretHash).toBe(rivals[joined.indexOf(true)]);
  });

  test('succeeds for every try of one agent, also when they come at once', async () => {
    await addNewHost();
    expect(await Promise.all([join(), join(), join()])).toEqual([true, true, true]);
  });

  test("is refused with a token that is another, another host's, or out of date", async () => {
    await addNewHost();
    await bench.addHost('h2');
    expect(await join(SECRET, 'b'.repeat(64))).toBe(false);
    expect(await join(SECRET, TOKEN, 'h2' as HostId)).toBe(false);
    await bench.clock.advance(MINUTE_MS);
    expect(await bench.sessions.tokenState(H1, TOKEN, bench.clock.nowMs())).toBe('expired');
    expect(await join()).toBe(false);
    expect(await host()).toMatchObject({ secretHash: null, inventory: null });
  });

  test('with a new token gives a host a new secret', async () => {
    await addNewHost();
    await join();
    const hash = 'c'.repeat(64);
    const expiresAt = new Date(bench.clock.nowMs() + MINUTE_MS);
    await bench.source.getRepository(JoinTokenEntity).update({ hostId: 'h1' }, { hash, expiresAt, usedAt: null });
    expect(await join(OTHER_SECRET, hash)).toBe(true);
    expect(await host()).toMatchObject({ secretHash: OTHER_SECRET });
  });
});

describe('a report', () => {
  test('is the one writer of what workers do, and of those of its own host only', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await bench.addHost('h2');
    await addWorker('w1');
    await addWorker('w2', 'h2');
    const before = await bench.workers();
    await report(1, [observed('w1', 'idle'), observed('w2', 'busy'), observed('unknown', 'busy')]);
    const after = await bench.workers();
    expect(after).toEqual([{ ...before[0], observed: observed('w1', 'idle') }, before[1]]);
  });

  test('tells whether the loops may decide differently now', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await addWorker('w1');
    expect(await report(1, [observed('w1', 'idle')])).toBe('changed');
    expect(await report(2, [observed('w1', 'idle')])).toBe('same');
    expect(await report(3, [observed('w1', 'busy')])).toBe('changed');
    expect(await report(4, [observed('w1', 'busy')], { inventory: { ...INVENTORY, images: ['local/echo'] } })).toBe(
      'changed',
    );
    await bench.clock.advance(10_000);
    expect(await report(5, [], { inventory: { ...INVENTORY, images: ['local/echo'] } })).toBe('same');
    await bench.clock.advance(16_000);
    expect(await report(6, [], { inventory: { ...INVENTORY, images: ['local/echo'] } })).toBe('changed');
  });

  test('is dropped when a newer one of the same start was taken, and counts anew after a start', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await addWorker('w1');
    await report(5, [observed('w1', 'idle')]);
    await bench.clock.advance(1_000);
    expect(await report(4, [observed('w1', 'starting')])).toBe('outdated');
    expect(await report(5, [observed('w1', 'starting')])).toBe('outdated');
    expect(await host()).toMatchObject({ lastSeenAt: new Date(bench.clock.nowMs() - 1_000) });
    expect(await report(1, [observed('w1', 'preparing')], { instanceId: 'second' })).toBe('changed');
    expect(await bench.workers()).toMatchObject([{ observed: { phase: 'preparing' } }]);
  });

  test('of many at once in any order leaves the newest', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await addWorker('w1');
    const sequences = [3, 1, 8, 5, 2, 7, 4, 6];
    await Promise.all(
      sequences.map((sequence) => report(sequence, [observed('w1', 'idle', { failedStarts: sequence })])),
    );
    expect(await host()).toMatchObject({ reportSequence: 8 });
    expect(await bench.workers()).toMatchObject([{ observed: { failedStarts: 8 } }]);
  });

  test('of a host that was removed is dropped', async () => {
    expect(await report(1)).toBe('outdated');
    expect(await bench.sessions.find(H1)).toBeNull();
  });
});

describe('the desired workers of a host', () => {
  test('are its own, whole, in the order in which they were placed', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await bench.addHost('h2');
    await addWorker('w2', 'h1', { restarts: 2 });
    await bench.clock.advance(1);
    await addWorker('w1');
    await addWorker('w3', 'h2');
    await bench.store.drainWorker('w1' as WorkerId);
    const desired = await bench.sessions.desired(H1);
    expect(desired.map(({ intent, restarts, workerId }) => ({ intent, restarts, workerId }))).toEqual([
      { workerId: 'w2', intent: 'running', restarts: 2 },
      { workerId: 'w1', intent: 'drained', restarts: 0 },
    ]);
    expect(desired[0]).toEqual({
      workerId: 'w2',
      accountId: 'account',
      endpointId: 'e1' as EndpointId,
      release: 1,
      intent: 'running',
      container: SPEC.container,
      resources: RESOURCES,
      endpointType: 'QUEUE',
      executionTimeoutMs: SPEC.executionTimeoutMs,
      restarts: 2,
    });
  });

  test('keep the container of their own release when the endpoint has a newer one', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await addWorker('w1');
    const container = { ...SPEC.container, image: 'local/old' };
    await bench.source.getRepository(ReleaseEntity).update({ endpointId: 'e1' }, { container });
    await bench.change(EndpointEntity, 'e1', { release: 2 });
    expect(await bench.sessions.desired(H1)).toMatchObject([{ release: 1, container }]);
  });

  test('have the image that the first host found their release to mean, on every host', async () => {
    const [first, second] = ['1', '2'].map((digit) => `sha256:${digit.repeat(64)}`);
    const running = (id: string, imageDigest = first): ObservedWorker =>
      observed(id, 'idle', { endpointId: 'e1' as EndpointId, ...(imageDigest === undefined ? {} : { imageDigest }) });
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await bench.addHost('h2');
    for (const [id, hostId] of [
      ['w1', 'h1'],
      ['w2', 'h1'],
      ['w3', 'h2'],
    ] as const) {
      await addWorker(id, hostId);
    }
    await report(1, [running('w1'), running('w3', second)]);
    await report(2, [running('w1'), running('w2', second)]);
    const digests = async (hostId: HostId): Promise<readonly unknown[]> =>
      (await bench.sessions.desired(hostId)).map(({ imageDigest }) => imageDigest);
    expect(await digests(H1)).toEqual([first, first]);
    expect(await digests('h2' as HostId)).toEqual([first]);
  });

  test('stay while their endpoint is being deleted, and an unknown host has none', async () => {
    await bench.addEndpoint('e1', {}, { deletedAt: new Date(0) });
    await bench.addHost('h1');
    await addWorker('w1');
    expect(await bench.sessions.desired(H1)).toHaveLength(1);
    expect(await bench.sessions.desired('h2' as HostId)).toEqual([]);
  });
});

describe('the end of a last job', () => {
  const ended = (lastJobEndedAtMs: number): ObservedWorker =>
    observed('w1', 'idle', { endpointId: 'e1' as EndpointId, lastJobEndedAtMs });
  const known = async (): Promise<ObservedWorker | undefined> => {
    const [row] = await bench.workers();
    return row?.observed ?? undefined;
  };

  test('is believed as how long ago it was, whatever the clock of its host says, and moves by no later report', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await addWorker('w1');
    const receivedAtMs = bench.clock.nowMs();
    expect(await report(1, [ended(50_000)], { sentAtMs: 52_000, receivedAtMs })).toBe('changed');
    expect(await known()).toMatchObject({ lastJobEndedAtMs: 50_000, idleSinceMs: receivedAtMs - 2_000 });
    const later = { sentAtMs: 57_000, receivedAtMs: receivedAtMs + 5_900 };
    expect(await report(2, [ended(50_000)], later)).toBe('same');
    expect(await known()).toMatchObject({ idleSinceMs: receivedAtMs - 2_000 });
    expect(await report(3, [ended(58_000)], { sentAtMs: 58_000, receivedAtMs: receivedAtMs + 7_000 })).toBe('changed');
    expect(await known()).toMatchObject({ idleSinceMs: receivedAtMs + 7_000 });
  });

  test('is no later than its report, whatever a clock that steps back, or lies, makes of it', async () => {
    await bench.addEndpoint('e1');
    await bench.addHost('h1');
    await addWorker('w1');
    const receivedAtMs = bench.clock.nowMs();
    await report(1, [ended(31_536_000_000)], { sentAtMs: 1_000, receivedAtMs });
    expect(await known()).toMatchObject({ idleSinceMs: receivedAtMs });
  });
});
