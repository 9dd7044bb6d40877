import { expect, test } from '@jest/globals';
import { SERIES_MAX, type EndpointId } from '@berth/domain';
import { MetricRegistry } from '@berth/telemetry';
import { controllersMetrics } from '../metrics.js';
import { DecisionCounts } from './decision-counts.js';

const HOUR_MS = 3_600_000;
const line = (endpoint: string, reason: string, count: number): string =>
  `berth_controllers_scale_decisions_total{endpoint="${endpoint}",reason="${reason}"} ${String(count)}`;

test('decisions are counted by endpoint and reason, from zero, and those of endpoints without series together', async () => {
  const registry = new MetricRegistry();
  const clock = { nowMs: 0, monotonicMs: () => clock.nowMs };
  const counts = new DecisionCounts(controllersMetrics(registry).decisions, clock);
  expect((await registry.text()).split('\n')).toContain(line('_other', 'at-max', 0));
  for (let each = 0; each < SERIES_MAX; each += 1) counts.note(`e${String(each)}` as EndpointId, 'from-zero');
  counts.note('late' as EndpointId, 'demand');
  let lines = (await registry.text()).split('\n');
  expect(lines).toEqual(expect.arrayContaining([line('e0', 'from-zero', 1), line('e0', 'no-demand', 0)]));
  expect(lines).toContain(line('_other', 'demand', 1));
  clock.nowMs = HOUR_MS;
  counts.note('late' as EndpointId, 'no-demand');
  lines = (await registry.text()).split('\n');
  expect(lines).toContain(line('late', 'no-demand', 1));
  expect(lines.join()).not.toContain('endpoint="e0"');
});
