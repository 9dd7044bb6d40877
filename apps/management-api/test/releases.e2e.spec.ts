import { beforeEach, describe, expect, test } from '@jest/globals';
import { GB_BYTES, type WorkerPhase } from '@berth/domain';
import { prefixOfApiKey } from '@berth/http';
import { QUEUE_ENDPOINT, useManagementApi, type Answer } from './management-bench.js';

const bench = useManagementApi();

let id: string;

beforeEach(async () => {
  id = (await bench.call('POST /v2/serverless', { body: QUEUE_ENDPOINT })).body.id;
});

const list = (of = id): Promise<Answer> => bench.call(`GET /v2/serverless/${of}/releases`);
const patch = (body: object): Promise<Answer> => bench.call(`PATCH /v2/serverless/${id}`, { body });

async function place(worker: string, release: number, phase: WorkerPhase = 'idle'): Promise<void> {
  const host = await bench.call('POST /v2/hosts/join-tokens', { body: { name: 'host' } });
  const resources = { vcpus: 2, memoryBytes: 4 * GB_BYTES, diskBytes: GB_BYTES, gpuTypeId: null, gpuCount: 0 };
  const observed = { workerId: worker, phase, reason: '', startedAtMs: null, gpuTypeId: null };
  await bench.source.query(
    `INSERT INTO workers (id, endpoint_id, host_id, release, intent, resources, observed)
     VALUES ($1, $2, $3, $4, 'running', $5, $6)`,
    [worker, id, host.body.hostId, release, JSON.stringify(resources), JSON.stringify(observed)],
  );
}

describe('GET /v2/serverless/{id}/releases', () => {
  test('200 with the first, made by the key that created the endpoint; without workers nothing is to roll out', async () => {
    const keys = await bench.call('GET /v2/api-keys');
    const prefix = prefixOfApiKey(bench.operatorKey);
    const key = (keys.body.apiKeys as { id: string; prefix: string }[]).find((each) => each.prefix === prefix);
    const { body, status } = await list();
    expect(status).toBe(200);
    expect(body).toEqual({
      endpointVersion: 1,
      rollout: {
        ...{ inProgress: false, workersOnLatest: 0, workersTotal: 0, percentOnLatest: 100 },
        ...{ state: 'none', reason: '' },
      },
      releases: [
        {
          id: `${id}.1`,
          version: 1,
          source: 'MANUAL',
          createdByUserId: key?.id,
          workerCount: 0,
          createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          diff: [],
        },
      ],
    });
  });

  test('200 newest first, each with what it changed and its workers, and how far the latest has come', async () => {
    await patch({ image: 'local/b' });
    await patch({ name: 'no release' });
    await patch({ env: { DB_PASSWORD: 'secret', MODEL: 'a' } });
    await place(`${id}-a`, 1);
    await place(`${id}-b`, 3);
    await place(`${id}-c`, 2, 'busy');
    await place(`${id}-d`, 3, 'removed');
    const { body } = await list();
    expect(body).toMatchObject({
      endpointVersion: 3,
      rollout: { inProgress: true, workersOnLatest: 1, workersTotal: 3, percentOnLatest: 33, state: 'rolling' },
      releases: [
        {
          version: 3,
          workerCount: 1,
          diff: [
            { field: 'env.DB_PASSWORD', old: null, new: '***' },
            { field: 'env.MODEL', old: null, new: 'a' },
          ],
        },
        { version: 2, workerCount: 1, diff: [{ field: 'image', old: 'local/echo', new: 'local/b' }] },
        { version: 1, workerCount: 1, diff: [] },
      ],
    });
    const workers = await bench.call(`GET /v2/serverless/${id}/workers`);
    expect(workers.body.endpointVersion).toBe(3);
    expect(workers.body.summary.total).toBe(3);
    const images = (workers.body.workers as { version: number; image: string; isStale: boolean }[]).map(
      ({ image, isStale, version }) => [version, image, isStale],
    );
    expect(images).toEqual([
      [1, 'local/echo', true],
      [3, 'local/b', false],
      [2, 'local/b', true],
    ]);
  });

  test('200 with a rollout that is halted, and why', async () => {
    await patch({ image: 'local/b' });
    await place(`${id}-a`, 1);
    await place(`${id}-b`, 2, 'waiting');
    const starts = { release: 2, hasBeenUp: false, failedStarts: 5, lastFailure: 'exit code 3', loopingSinceMs: 1 };
    await bench.source.query(
      `INSERT INTO endpoint_scaling (endpoint_id, desired, reason, detail, starts, decided_at)
       VALUES ($1, 1, 'demand', '1 job waits', $2, now())`,
      [id, JSON.stringify({ ...starts, counted: {} })],
    );
    const rollout = { inProgress: true, workersOnLatest: 1, workersTotal: 2, percentOnLatest: 50, state: 'halted' };
    const reason = expect.stringMatching(/^release 2 does not come up, 5 starts have failed.*exit code 3$/) as unknown;
    expect((await list()).body.rollout).toEqual({ ...rollout, reason });
    const workers = await bench.call(`GET /v2/serverless/${id}/workers`);
    expect(workers.body.rollout).toEqual({ ...rollout, reason });
    await patch({ image: 'local/c' });
    expect((await list()).body.rollout).toMatchObject({ state: 'rolling', reason: '' });
  });

  test('200 with the newest 1,000; older ones go, but for those that still have workers', async () => {
    await place(`${id}-old`, 1);
    await bench.source.query(
      `INSERT INTO releases (endpoint_id, release, container)
       SELECT r.endpoint_id, n, r.container FROM releases r, generate_series(2, 1001) n WHERE r.endpoint_id = $1`,
      [id],
    );
    await bench.source.query(`UPDATE endpoints SET release = 1001 WHERE id = $1`, [id]);
    await patch({ image: 'local/b' });
    const { body } = await list();
    const versions = (body.releases as { version: number }[]).map(({ version }) => version);
    expect(versions).toEqual(Array.from({ length: 1_000 }, (_, index) => 1_002 - index));
    const kept = await bench.source.query(`SELECT release FROM releases WHERE endpoint_id = $1 AND release < 5`, [id]);
    expect(kept).toEqual([{ release: 1 }, { release: 3 }, { release: 4 }]);
  });

  test('401, 403 and 404, the last also for what was deleted', async () => {
    const path = `GET /v2/serverless/${id}/releases`;
    expect(await bench.call(path, { key: null })).toMatchObject({ status: 401 });
    expect(await bench.call(path, { key: await bench.keyWithout('serverless:read') })).toMatchObject({ status: 403 });
    expect(await bench.call(path, { key: await bench.newAccount() })).toMatchObject({ status: 404 });
    await bench.call(`DELETE /v2/serverless/${id}`);
    expect(await list()).toMatchObject({ status: 404 });
  });
});
