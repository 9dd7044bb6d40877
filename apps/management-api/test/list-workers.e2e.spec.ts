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
      rollout: {
        ...{ inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 100 },
        ...{ state: 'none', reason: '' },
      },
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
    await place('roomless', {
      phase: 'waiting',
      reason: 'disk-full',
      startedAtMs: null,
      gpuTypeId: null,
      lacksRoom: true,
    });
    await place('frozen', { phase: 'paused', reason: '', startedAtMs: null, gpuTypeId: null });
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
      `INSERT INTO endpoint_scaling (endpoint_id, desired, reason, detail, waiting, unplaced, decided_at)
       VALUES ($1, 5, 'demand', '5 jobs wait', $2, 2, '2026-01-01T00:00:00Z')`,
      [endpointId, JSON.stringify(waiting)],
    );
    const { body } = await bench.call(`GET /v2/serverless/${endpointId}/workers`);
    const alike = { isStale: false, version: 1, image: 'local/echo', gpuCount: 0, restarts: 0 };
    const shared = { ...alike, hostId, dataCenterId: 'EU-1' };
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
        { id: 'roomless', status: 'THROTTLED', reason: 'disk-full', ...shared },
        { id: 'frozen', status: 'IDLE', reason: '', ...shared },
        { id: 'throttled-1', status: 'THROTTLED', reason: 'no host has 2 vCPU free', ...alike },
        { id: 'throttled-2', status: 'THROTTLED', reason: 'no host has 2 vCPU free', ...alike },
      ],
      summary: { running: 1, idle: 1, initializing: 1, throttled: 3, unhealthy: 1, total: 7 },
      endpointVersion: 1,
      rollout: {
        ...{ inProgress: false, workersOnLatest: 5, workersTotal: 5, percentOnLatest: 100 },
        ...{ state: 'done', reason: '' },
      },
      waiting,
      scaling: { desired: 5, reason: 'demand', detail: '5 jobs wait', decidedAt: '2026-01-01T00:00:00.000Z' },
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

describe('POST /v2/serverless/{id}/workers/{workerId}/action', () => {
  const act = (worker: string, action: string, options: object = {}) =>
    bench.call(`POST /v2/serverless/${endpointId}/workers/${worker}/action`, { body: { action }, ...options });

  test('200 with the worker, whose restarts are counted; in the audit trail', async () => {
    await place('restarted', { phase: 'unhealthy', reason: 'exit code 1', startedAtMs: null, gpuTypeId: null });
    const { body, status } = await act('restarted', 'restart');
    expect(status).toBe(200);
    expect(body).toMatchObject({ id: 'restarted', status: 'UNHEALTHY', restarts: 1 });
    expect((await act('restarted', 'restart')).body.restarts).toBe(2);
    const trail = await bench.call('GET /v2/audit?resourceId=restarted');
    expect(trail.body.entries).toMatchObject([{ action: 'worker.restarted' }, { action: 'worker.restarted' }]);
  });

  test('404 for a worker that is not there, was removed, or has no host yet', async () => {
    await place('removed', { phase: 'removed', reason: '', startedAtMs: null, gpuTypeId: null });
    for (const worker of ['nope', 'removed', 'throttled-1']) {
      expect(await act(worker, 'restart')).toMatchObject({
        status: 404,
        body: { type: expect.stringContaining('worker-not-found') as unknown },
      });
    }
  });

  test('422, 403, and 404 for whom it is none of their business', async () => {
    expect(await act('restarted', 'explode')).toMatchObject({ status: 422 });
    const key = await bench.keyWithout('serverless:write');
    expect(await act('restarted', 'restart', { key })).toMatchObject({ status: 403 });
    expect(await act('restarted', 'restart', { key: await bench.newAccount() })).toMatchObject({ status: 404 });
  });
});
