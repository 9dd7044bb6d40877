import { beforeEach, expect, test } from '@jest/globals';
import { NO_DEMAND, SERIES_MAX, type Demand, type EndpointId, type JobId, type TouchedJob } from '@berth/domain';
import { MetricRegistry } from '@berth/telemetry';
import { endpointMetrics, queueGauges } from '../metrics.js';
import { EndpointSeries } from './endpoint-series.js';

const NOW_MS = 1_000_000;
const [A, B] = ['a' as EndpointId, 'b' as EndpointId];

let metrics: MetricRegistry;
let demands: Map<EndpointId, Demand>;
let lost: Set<EndpointId>;
let series: EndpointSeries;

beforeEach(() => {
  [metrics, demands, lost] = [new MetricRegistry(), new Map(), new Set()];
  series = new EndpointSeries({
    demands: () => demands,
    shows: (endpointId) => !lost.has(endpointId),
    metrics: endpointMetrics(metrics),
    clock: { nowMs: () => NOW_MS },
  });
  queueGauges(metrics, () => series.read());
});

const ended = (outcome: 'COMPLETED' | 'FAILED', executionMs: number | null = 2_000): TouchedJob => ({
  ...{ jobId: 'job' as JobId, now: 'ended', stop: null, leftovers: null },
  end: { outcome, executionMs },
});

const shown = async (name: string): Promise<readonly string[]> =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith(`berth_router_endpoint_${name}{`));

test('shows what waits and runs of each endpoint, and of all others', async () => {
  demands.set(A, { ...NO_DEMAND, queuedNormal: 2, queuedLow: 1, running: 4, oldestQueuedAtMs: NOW_MS - 7_000 });
  expect(await shown('jobs_waiting')).toEqual([
    'berth_router_endpoint_jobs_waiting{endpoint="a"} 3',
    'berth_router_endpoint_jobs_waiting{endpoint="_other"} 0',
  ]);
  expect(await shown('jobs_running')).toContain('berth_router_endpoint_jobs_running{endpoint="a"} 4');
  expect(await shown('oldest_wait_seconds')).toContain('berth_router_endpoint_oldest_wait_seconds{endpoint="a"} 7');
});

test('counts ends by outcome, and how long those ran that had begun', async () => {
  series.note(A, [ended('COMPLETED'), ended('FAILED', null)]);
  const counted = await shown('jobs_ended_total');
  expect(counted).toContain('berth_router_endpoint_jobs_ended_total{endpoint="a",outcome="COMPLETED"} 1');
  expect(counted).toContain('berth_router_endpoint_jobs_ended_total{endpoint="a",outcome="FAILED"} 1');
  expect(counted).toContain('berth_router_endpoint_jobs_ended_total{endpoint="a",outcome="TIMED_OUT"} 0');
  expect(await shown('execution_seconds_sum')).toContain('berth_router_endpoint_execution_seconds_sum{endpoint="a"} 2');
  expect(await shown('execution_seconds_count')).toContain(
    'berth_router_endpoint_execution_seconds_count{endpoint="a"} 1',
  );
});

test('an endpoint that is idle keeps its counters, and begins with zero where nothing has ended', async () => {
  series.note(A, [ended('COMPLETED')]);
  series.note(B, [{ jobId: 'job' as JobId, now: 'moved', stop: null, leftovers: null }]);
  for (let reads = 0; reads < 3; reads += 1) await metrics.text();
  const counted = await shown('jobs_ended_total');
  expect(counted).toContain('berth_router_endpoint_jobs_ended_total{endpoint="a",outcome="COMPLETED"} 1');
  expect(counted).toContain('berth_router_endpoint_jobs_ended_total{endpoint="b",outcome="COMPLETED"} 0');
});

test('of an endpoint that another router owns now, nothing is shown here', async () => {
  demands.set(A, { ...NO_DEMAND, running: 1 });
  series.note(A, [ended('COMPLETED')]);
  lost.add(A);
  await metrics.text();
  expect(await metrics.text()).not.toContain('endpoint="a"');
});

test('where all series are taken, ends of another endpoint are counted with the others until it is clearly busier', async () => {
  for (let at = 0; at < SERIES_MAX; at += 1) {
    demands.set(`e${String(at)}` as EndpointId, { ...NO_DEMAND, running: 2 });
  }
  await metrics.text();
  series.note(A, [ended('FAILED')]);
  expect(await shown('jobs_ended_total')).toContain(
    'berth_router_endpoint_jobs_ended_total{endpoint="_other",outcome="FAILED"} 1',
  );
  demands.set(A, { ...NO_DEMAND, running: 4 });
  expect((await shown('jobs_running')).join()).not.toContain('endpoint="a"');
  demands.set(A, { ...NO_DEMAND, running: 5 });
  expect(await shown('jobs_running')).toContain('berth_router_endpoint_jobs_running{endpoint="a"} 5');
});
