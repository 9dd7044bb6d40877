import type { EndpointId } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { ownerMetrics } from './metrics.js';
import { OwnerLogLines } from './owner-log-lines.js';

const endpointId = 'e1' as EndpointId;

test('the first endpoint that stops is an increase, and so is each other event', async () => {
  const registry = new MetricRegistry();
  const lines = new OwnerLogLines({ logger: silentLogger, metrics: ownerMetrics(registry), clock: new ManualClock() });
  const shown = async (): Promise<readonly string[]> =>
    (await registry.text()).split('\n').filter((line) => line.startsWith('berth_router_endpoint_logs_total'));
  const before = await shown();
  expect(before).toContain('berth_router_endpoint_logs_total{event="stopped"} 0');
  lines.event({ kind: 'stopped', endpointId, reason: 'a fact that cannot be' });
  lines.event({ kind: 'closed', endpointId, reason: 'lost-to' });
  const after = await shown();
  expect(after).toContain('berth_router_endpoint_logs_total{event="stopped"} 1');
  expect(after).toContain('berth_router_endpoint_logs_total{event="closed: lost-to"} 1');
  expect(after).toHaveLength(before.length);
});
