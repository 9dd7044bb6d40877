import { describe, expect, test } from '@jest/globals';
import { BUCKETS, type EndpointSnapshot, type HostSnapshot } from '@berth/contracts';
import type { EndpointId, HostId } from '@berth/domain';
import { eventually } from '@berth/testing';
import { QUEUE_ENDPOINT, each, useManagementApi } from './management-bench.js';

const bench = useManagementApi();
const PATIENCE = { deadlineMs: 90_000, intervalMs: 200 };

const endpoints = async (): Promise<string[]> => each(await bench.call('GET /v2/serverless'), 'endpoints', 'id');

const readiness = async (): Promise<{ status: number; dependencies: Record<string, { state: string }> }> => {
  const response = await fetch(`${bench.operationsUrl}/readyz`);
  const { dependencies } = (await response.json()) as { dependencies: Record<string, { state: string }> };
  return { status: response.status, dependencies };
};

describe('while everything is up', () => {
  test('it is ready, names what it depends on, and shows its metrics', async () => {
    await eventually(async () => {
      expect(await readiness()).toEqual({
        status: 200,
        dependencies: { postgresql: { state: 'up' }, nats: { state: 'up' }, snapshots: { state: 'up' } },
      });
    });
    await bench.call('GET /v2/serverless');
    const metrics = await (await fetch(`${bench.operationsUrl}/metrics`)).text();
    expect(metrics).toContain(
      'berth_http_request_seconds_count{method="GET",route="/v2/serverless",status="200",fault="none"}',
    );
  });
});

describe('a broker that is away', () => {
  test('lets nothing be created that the routers would not know: 503, and no trace of it', async () => {
    const before = await endpoints();
    await bench.nats.server.kill();
    const { body, headers, status } = await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT });
    expect({ status, type: body.type }).toEqual({
      status: 503,
      type: 'https://api.example.com/docs/problems/service-unavailable',
    });
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(await endpoints()).toEqual(before);
    expect(await readiness()).toMatchObject({ status: 503, dependencies: { nats: { state: 'down' } } });
    await bench.nats.restart('kill');
    await eventually(async () => {
      expect((await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).status).toBe(201);
    }, PATIENCE);
  });
});

describe('snapshots that differ from the database', () => {
  test('are put right in both directions, and counted', async () => {
    const { body } = await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT });
    const id = body.id as EndpointId;
    const endpointWriter = bench.writerOf<EndpointSnapshot>(BUCKETS.endpoints);
    const lost = await endpointWriter.read(id);
    if (lost === null) throw new Error('the endpoint was not published');
    await endpointWriter.put(id, { ...lost.value, workersMax: 77 });
    await bench.writerOf<HostSnapshot>(BUCKETS.hosts).put('stranger', { id: 'stranger' as HostId, isDraining: false });
    await eventually(async () => {
      expect(await bench.endpointSnapshot(id)).toEqual(lost.value);
      const metrics = await (await fetch(`${bench.operationsUrl}/metrics`)).text();
      expect(metrics).toMatch(/berth_management_snapshot_corrections_total\{bucket="endpoints",kind="written"\} [1-9]/);
    }, PATIENCE);
    // Nobody knows yet whether a write of this host is being committed: it is kept for a minute.
    expect(await bench.hostSnapshot('stranger')).toBeDefined();
  });
});

describe('a database that is away', () => {
  test('is a problem that passes: 503, then 200 again', async () => {
    await bench.postgres.server.kill();
    const { headers, status } = await bench.call('GET /v2/serverless');
    expect([status, headers.get('retry-after')]).toEqual([503, '2']);
    expect(await readiness()).toMatchObject({ status: 503, dependencies: { postgresql: { state: 'down' } } });
    await bench.postgres.restart('kill');
    await eventually(async () => {
      expect((await bench.call('GET /v2/serverless')).status).toBe(200);
    }, PATIENCE);
  });
});
