import { beforeAll, describe, expect, test } from '@jest/globals';
import { GB_BYTES, type ObservedWorker } from '@berth/domain';
import { systemClock } from '@berth/lifecycle';
import { QUEUE_ENDPOINT, useManagementApi } from './management-bench.js';

const bench = useManagementApi();

let endpointId: string;
let hostId: string;

beforeAll(async () => {
  endpointId = (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id;
  const invited = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'host', dataCenterId: 'EU-1' } });
  hostId = invited.body.hostId;
});

async function place(id: string, observed: Partial<ObservedWorker> | null, release = 1): Promise<void> {
  const resources = { vcpus: 2, memoryBytes: 4 * GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: null, gpuCount: 0 };
  await bench.source.query(
    `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources, observed) VALUES ($1, $2, $3, $4, 'running', $5, $6)`,
    [id, endpointId, hostId, release, JSON.stringify(resources), observed === null ? null : JSON.stringify(observed)],
  );
}

describe('GET /v2/serverless/{id}/workers', () => {
  test('200 without workers and before the first decision', async () => {
    const { body, status } = await bench.call(`GET /v2/serverless/${endpointId}/workers`);
    expect(status).toBe(200);
    expect(body).toEqual({
      workers: [],
      summary: { running: 0, idle: 0, initializing: 0, throttled: 0, unhealthy: 0, total: 0 },
      endpointVersion: 1,
      waiting: [],
      scaling: null,
    });
  });

  test('200 with each worker, its reason, and why others could not be placed', async () => {
    const startedAtMs = systemClock.nowMs() - 60_000;
    await place('new', null);
    await place('busy', { phase: 'busy', reason: '', startedAtMs, gpuTypeId: null });
    await place('sick', {
      phase: 'unhealthy',
      reason: 'exit code 1, 5 times in a row',
      startedAtMs: null,
      gpuTypeId: null,
    });
    await place('gone', { phase: 'removed', reason: '', startedAtMs: null, gpuTypeId: null });
    const waiting = [
      {
        reason: 'no-capacity',
        detail: 'no host has 2 vCPU free',
        since: '2026-01-01T00:00:00.000Z',
        hosts: [{ id: hostId, reason: '1 of 2 vCPU free' }],
      },
    ];
    await bench.source.query(
      `INSERT INTO endpoint_scaling (endpoint_id, desired, reason, detail, waiting, decided_at)
       VALUES ($1, 4, 'demand', '4 jobs wait', $2, '2026-01-01T00:00:00Z')`,
      [endpointId, JSON.stringify(waiting)],
    );
    const { body } = await bench.call(`GET /v2/serverless/${endpointId}/workers`);
    const shared = { isStale: false, version: 1, image: 'local/echo', gpuCount: 0, hostId, dataCenterId: 'EU-1' };
    expect(body).toEqual({
      workers: [
        { id: 'new', status: 'INITIALIZING', reason: 'its host has not reported it yet', ...shared },
        {
          id: 'busy',
          status: 'RUNNING',
          reason: '',
          startedAt: new Date(startedAtMs).toISOString(),
          uptimeSeconds: expect.any(Number),
          ...shared,
        },
        { id: 'sick', status: 'UNHEALTHY', reason: 'exit code 1, 5 times in a row', ...shared },
      ],
      summary: { running: 1, idle: 0, initializing: 1, throttled: 0, unhealthy: 1, total: 3 },
      endpointVersion: 1,
      waiting,
      scaling: { desired: 4, reason: 'demand', detail: '4 jobs wait', decidedAt: '2026-01-01T00:00:00.000Z' },
    });
    expect(body.workers[1].uptimeSeconds).toBeGreaterThanOrEqual(60);
  });

  test('of a host is shown to the operator too', async () => {
    const { body } = await bench.call(`GET /v2/hosts/${hostId}`);
    expect(body.workers).toContainEqual({
      id: 'sick',
      endpointId,
      status: 'UNHEALTHY',
      reason: 'exit code 1, 5 times in a row',
    });
  });

  test('401, 403 and 404', async () => {
    const path = `GET /v2/serverless/${endpointId}/workers`;
    expect(await bench.call(path, { key: null })).toMatchObject({ status: 401 });
    expect(await bench.call(path, { key: await bench.keyWithout('serverless:read') })).toMatchObject({ status: 403 });
    expect(await bench.call(path, { key: await bench.newAccount() })).toMatchObject({ status: 404 });
    expect(await bench.call('GET /v2/serverless/nope/workers')).toMatchObject({ status: 404 });
  });
});
