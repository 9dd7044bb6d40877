import { useOf, type HostId, type ObservedWorker, type WorkerId, type WorkerPhase } from '@berth/domain';
import { SeededRandom } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { HostsStore } from '../src/hosts/hosts.store.js';
import { Database } from '../src/persistence/database.js';
import { UsageStore } from '../src/usage/usage.store.js';
import { observed, SPEC, useFleetBench } from './fleet-bench.js';

const bench = useFleetBench();
const T0 = Date.UTC(2026, 0, 1, 9, 30);
const [SECOND_MS, MINUTE_MS, HOUR_MS] = [1_000, 60_000, 3_600_000];
const HOST = 'h1' as HostId;
/** Its clock is an hour ahead. */
const SKEW_MS = HOUR_MS;
const GPUS = { vcpus: 2, memoryBytes: 1, diskBytes: 1, gpuTypeId: 'A100', gpuCount: 2 };

let usage: UsageStore;
let sequence: number;

beforeEach(async () => {
  usage = new UsageStore(new Database(bench.source));
  sequence = 0;
  await bench.addHost(HOST, { lastSeenAt: new Date(T0) });
  await bench.addEndpoint('e1', SPEC);
  await addWorker('w1');
});

const addWorker = (id: string, resources: object = GPUS): Promise<unknown> =>
  bench.source.query(
    `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources, created_at)
     VALUES ($1, 'e1', $2, 1, 'running', $3, $4)`,
    [id, HOST, resources, new Date(T0)],
  );

/** As the host sees it, which has changed this very moment. */
const now = (id: string, phase: WorkerPhase, [atMs, startedAtMs]: readonly [number, number | null]): ObservedWorker =>
  observed(id, phase, {
    phaseSinceMs: atMs + SKEW_MS,
    startedAtMs: startedAtMs === null ? null : startedAtMs + SKEW_MS,
  });

async function report(atMs: number, workers: readonly ObservedWorker[], instanceId = 'i'): Promise<void> {
  sequence += 1;
  const sent = { sequence, receivedAtMs: atMs, sentAtMs: atMs + SKEW_MS };
  await bench.sessions.record({ hostId: HOST, instanceId, inventory: null, workers, ...sent });
}

interface HourRow {
  readonly hour: Date;
  readonly worker_ms: string;
  readonly gpu_ms: string;
  readonly paused_worker_ms: string;
  readonly paused_gpu_ms: string;
}

/** Minutes since midnight of the hour, then what was used of workers and GPUs, running and paused, in seconds. */
async function hours(): Promise<readonly (readonly number[])[]> {
  const rows = await bench.source.query<HourRow[]>(`SELECT * FROM usage_hours ORDER BY hour, gpu_type_id`);
  return rows.map(({ hour, ...row }) => [
    hour.getUTCHours(),
    ...[row.worker_ms, row.gpu_ms, row.paused_worker_ms, row.paused_gpu_ms].map((ms) => Number(ms) / SECOND_MS),
  ]);
}

const openRuns = (): Promise<readonly object[]> => bench.source.query(`SELECT id FROM worker_runs`);

test('counts by hour what runs and what is paused, times GPUs, up to the last word of the host', async () => {
  await report(T0, [now('w1', 'preparing', [T0, null])]);
  await report(T0 + 10 * MINUTE_MS, [now('w1', 'idle', [T0 + 10 * MINUTE_MS, T0 + 10 * MINUTE_MS])]);
  const pausedAtMs = T0 + 40 * MINUTE_MS;
  await report(pausedAtMs, [now('w1', 'paused', [pausedAtMs, T0 + 10 * MINUTE_MS])]);
  const heardAtMs = T0 + 45 * MINUTE_MS;
  await report(heardAtMs, [now('w1', 'paused', [pausedAtMs, T0 + 10 * MINUTE_MS])]);
  expect(await usage.count(T0 + 5 * HOUR_MS, 10)).toEqual([
    {
      ...{ accountId: 'account', endpointId: 'e1', gpuTypeId: 'A100', workerMs: 30 * MINUTE_MS, gpuMs: HOUR_MS },
      ...{ pausedWorkerMs: 5 * MINUTE_MS, pausedGpuMs: 10 * MINUTE_MS },
    },
  ]);
  expect(await hours()).toEqual([
    [9, 1_200, 2_400, 0, 0],
    [10, 600, 1_200, 300, 600],
  ]);
  expect(await usage.count(T0 + 5 * HOUR_MS, 10)).toEqual([]);
});

test('counts a worker that lived between two looks, and one without a GPU by itself', async () => {
  await addWorker('w2', { ...GPUS, gpuTypeId: null, gpuCount: 0 });
  await report(T0 + SECOND_MS, [now('w1', 'busy', [T0, T0]), now('w2', 'busy', [T0, T0])]);
  await report(T0 + 4 * SECOND_MS, [now('w1', 'removed', [T0 + 3 * SECOND_MS, null])]);
  const gone = { id: 'w1' as WorkerId, reason: 'removed', hostLastSeenAtMs: T0 + 4 * SECOND_MS } as const;
  expect(await bench.store.forgetWorker(gone)).toBe(true);
  await usage.count(T0 + HOUR_MS, 10);
  expect(await hours()).toEqual([
    [9, 4, 0, 0, 0],
    [9, 3, 6, 0, 0],
  ]);
});

describe('a machine that was off for hours', () => {
  const ON_MS = T0 + 10 * HOUR_MS;

  beforeEach(async () => {
    for (const atMs of [T0, T0 + MINUTE_MS]) await report(atMs, [now('w1', 'busy', [T0, T0])]);
  });

  test.each<[string, readonly (readonly ObservedWorker[])[]]>([
    ['whose agent found the container ended', [[now('w1', 'waiting', [ON_MS, null])]]],
    ['whose agent found none', [[], [now('w1', 'waiting', [ON_MS, null])]]],
    ['whose agent has made another one', [[now('w1', 'busy', [ON_MS, ON_MS])]]],
    ['whose agent has made another one later', [[], [now('w1', 'busy', [ON_MS, ON_MS])]]],
  ])('%s, has used nothing meanwhile', async (_, reports) => {
    for (const workers of reports) await report(ON_MS, workers, 'j');
    await usage.count(ON_MS, 10);
    expect(await hours()).toEqual([[9, 60, 120, 0, 0]]);
  });

  test('that has only lost its agent has used what the same container ran', async () => {
    await report(ON_MS, [now('w1', 'busy', [ON_MS, T0])], 'j');
    await usage.count(ON_MS, 10);
    const seconds = (await hours()).map(([, workerSeconds = 0]) => workerSeconds);
    expect(seconds.reduce((sum, each) => sum + each, 0)).toBe(36_000);
  });
});

test('a worker whose host was lost has used what its host has told of, and nothing more', async () => {
  await report(T0, [now('w1', 'busy', [T0, T0])]);
  await report(T0 + MINUTE_MS, [now('w1', 'busy', [T0, T0])]);
  const gone = { id: 'w1' as WorkerId, reason: 'host-lost', hostLastSeenAtMs: T0 + MINUTE_MS } as const;
  expect(await bench.store.forgetWorker(gone)).toBe(true);
  await usage.count(T0 + HOUR_MS, 10);
  expect([await hours(), await openRuns()]).toEqual([[[9, 60, 120, 0, 0]], []]);
});

test('the use of a host that is removed ends with its last word', async () => {
  await report(T0, [now('w1', 'busy', [T0, T0])]);
  await report(T0 + MINUTE_MS, [now('w1', 'busy', [T0, T0])]);
  expect(await new HostsStore(new Database(bench.source)).delete(HOST, T0 + MINUTE_MS)).toBe(true);
  await usage.count(T0 + HOUR_MS, 10);
  expect([await hours(), await openRuns()]).toEqual([[[9, 60, 120, 0, 0]], []]);
});

test('what an older program took is counted from when it is seen, and no run is left that nothing goes with', async () => {
  const phases: readonly WorkerPhase[] = ['preparing', 'starting', 'idle', 'busy', 'paused', 'draining', 'waiting'];
  const startedOf = (phase: WorkerPhase): number | null => (/preparing|waiting/.test(phase) ? null : T0);
  for (const phase of phases) {
    await addWorker(phase);
    const seen = now(phase, phase, [T0, startedOf(phase)]);
    await bench.source.query(`UPDATE workers SET observed = $2 WHERE id = $1`, [phase, seen]);
  }
  await Promise.all([usage.align(), usage.align()]);
  const runs = (): Promise<readonly object[]> =>
    bench.source.query(`SELECT worker_id AS id, use FROM worker_runs WHERE until IS NULL ORDER BY worker_id`);
  const expected = phases.flatMap((id) => {
    const use = useOf({ phase: id, startedAtMs: startedOf(id) });
    return use === null ? [] : [{ id, use }];
  });
  expect(await runs()).toEqual(expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  await bench.source.query(`UPDATE workers SET observed = NULL`);
  await usage.align();
  expect(await runs()).toEqual([]);
});

test('old hours go, a slice at a time', async () => {
  await report(T0, [now('w1', 'busy', [T0, T0])]);
  await report(T0 + 2 * HOUR_MS, [now('w1', 'busy', [T0, T0])]);
  await usage.count(T0 + 2 * HOUR_MS, 10);
  expect(await usage.prune(T0 + HOUR_MS, 1)).toBe(1);
  expect(await usage.prune(T0 + HOUR_MS, 10)).toBe(1);
  expect(await hours()).toEqual([[11, 1_800, 3_600, 0, 0]]);
});

const LIVES: readonly (WorkerPhase | 'other container')[] = ['idle', 'busy', 'paused', 'waiting', 'other container'];

test.each([1, 2, 3, 4])(
  'whoever counts, at once and however often, each second is counted once: story %i',
  async (seed) => {
    const random = new SeededRandom(seed);
    const really = new Map<number, { running: number; paused: number }>();
    let [atMs, startedAtMs]: [number, number | null] = [T0, null];
    for (let step = 0; step < 25; step += 1) {
      const next = LIVES[Math.floor(random.fraction() * LIVES.length)] ?? 'idle';
      const phase = next === 'other container' ? 'starting' : next;
      if (next === 'waiting') startedAtMs = null;
      else if (next === 'other container') startedAtMs = atMs;
      else startedAtMs ??= atMs;
      await report(atMs, [now('w1', phase, [atMs, startedAtMs])]);
      const untilMs = atMs + Math.floor(random.fraction() * 20 * MINUTE_MS);
      const use = useOf({ phase, startedAtMs });
      for (let ms = atMs; use !== null && ms < untilMs;) {
        const hourMs = Math.floor(ms / HOUR_MS) * HOUR_MS;
        const endMs = Math.min(untilMs, hourMs + HOUR_MS);
        const sum = really.get(hourMs) ?? { running: 0, paused: 0 };
        sum[use] += endMs - ms;
        really.set(hourMs, sum);
        ms = endMs;
      }
      atMs = untilMs;
      // What is replaced in the next step was there up to this moment.
      await report(atMs, [now('w1', phase, [atMs, startedAtMs])]);
      const askers = Math.floor(random.fraction() * 4);
      await Promise.all(Array.from({ length: askers }, () => usage.count(atMs, 1 + (step % 2))));
    }
    await report(atMs, [now('w1', 'removed', [atMs, null])]);
    const gone = { id: 'w1' as WorkerId, reason: 'removed', hostLastSeenAtMs: atMs } as const;
    await bench.store.forgetWorker(gone);
    while ((await openRuns()).length > 0) await usage.count(atMs, 10);
    const expected = [...really].map(([hourMs, { paused, running }]) => [
      new Date(hourMs).getUTCHours(),
      ...[running, 2 * running, paused, 2 * paused].map((ms) => ms / SECOND_MS),
    ]);
    expect(await hours()).toEqual(expected);
  },
);
