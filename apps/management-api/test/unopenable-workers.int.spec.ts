import type { HostReply } from '@berth/contracts';
import { SHIPPED_CATALOG, type AccountId, type EndpointId, type HostId } from '@berth/domain';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { HostSessionsService } from '../src/host-sessions/host-sessions-service.js';
import { hashHostSecret } from '../src/host-sessions/secret-hash.js';
import { UnopenableWorkers } from '../src/host-sessions/unopenable-workers.js';
import { WorkerEntity } from '../src/persistence/entities/index.js';
import { RegistryCredentialsService } from '../src/registries/registry-credentials-service.js';
import { INVENTORY, SPEC, useFleetBench } from './fleet-bench.js';
import { envSeal, secretBox } from './secret-box.js';

const bench = useFleetBench();

const SECRET = 'host-secret';
const ACCOUNT = 'account' as AccountId;
let sequence = 0;

/** What the host hears to its next report. */
function report(unopenable?: UnopenableWorkers): Promise<HostReply> {
  const service = new HostSessionsService({
    catalog: SHIPPED_CATALOG,
    store: bench.sessions,
    credentials: new RegistryCredentialsService(secretBox(), silentLogger),
    envs: envSeal(),
    deletedVolumes: bench.deletedVolumes,
    clock: bench.clock,
    onChange: () => undefined,
    onUnopenable: (hostId, workers) => unopenable?.note(hostId, workers),
  });
  sequence += 1;
  const request = { secret: SECRET, instanceId: 'i', sequence, inventory: INVENTORY, workers: [] };
  return service.report('h1' as HostId, request);
}

async function addWorker(id: string, intent: WorkerEntity['intent'] = 'running'): Promise<void> {
  const createdAt = new Date(bench.clock.nowMs());
  const resources = { vcpus: 2, memoryBytes: 1, diskBytes: 1, gpuTypeId: null, gpuCount: 0 };
  const row = { id: `${id}-1`, endpointId: id, hostId: 'h1', release: 1, intent, restarts: 0, observed: null };
  await bench.source.getRepository(WorkerEntity).insert({ ...row, resources, createdAt });
}

/** Leaves in the endpoint's row what nobody here can open. */
async function spoil(endpointId: string, env: string): Promise<void> {
  const sql = `UPDATE endpoints SET spec = jsonb_set(spec, '{container,env}', to_jsonb($2::text)) WHERE id = $1`;
  await bench.source.query(sql, [endpointId, env]);
  await bench.source.query(
    `UPDATE releases SET container = jsonb_set(container, '{env}', to_jsonb($2::text)) WHERE endpoint_id = $1`,
    [endpointId, env],
  );
}

const ownerOf = (id: string) => ({ kind: 'endpoint', accountId: ACCOUNT, id: id as EndpointId }) as const;
const LOST_KEY = envSeal(2).seal({ A: 'secret' }, ownerOf('bad'));

beforeEach(async () => {
  await bench.addHost('h1', { secretHash: hashHostSecret(SECRET) });
  for (const id of ['bad', 'good']) await bench.addEndpoint(id, { container: { ...SPEC.container, env: { A: '1' } } });
});

describe('a worker whose variables cannot be opened', () => {
  test.each([
    ['are sealed with a key that is gone', LOST_KEY],
    ["are another endpoint's", envSeal().seal({ A: 'secret' }, ownerOf('good'))],
    ['are no JSON', secretBox().seal('{"A": secret', `env:endpoint:${ACCOUNT}:bad`)],
  ])('because they %s costs no other worker of the host its answer', async (_, env) => {
    await addWorker('bad');
    await addWorker('good');
    await spoil('bad', env);
    const { desired } = await report();
    expect(desired.map(({ workerId, container, unopenable }) => [workerId, container.env, unopenable])).toEqual([
      ['bad-1', {}, expect.stringContaining('its environment variables cannot be opened')],
      ['good-1', { A: '1' }, undefined],
    ]);
    expect(JSON.stringify(desired)).not.toContain('secret');
  });

  test('is still told to leave', async () => {
    await addWorker('bad', 'drained');
    await spoil('bad', LOST_KEY);
    expect((await report()).desired).toMatchObject([{ workerId: 'bad-1', intent: 'drained' }]);
  });

  test('is logged and counted once, until it can be opened again', async () => {
    const error = jest.fn();
    const metrics = new MetricRegistry();
    const unopenable = new UnopenableWorkers(metrics, { ...silentLogger, error });
    await addWorker('bad');
    await spoil('bad', LOST_KEY);
    for (let times = 0; times < 3; times += 1) await report(unopenable);
    expect(error).toHaveBeenCalledTimes(1);
    expect(await metrics.text()).toContain('berth_management_workers_unopenable_total 1');
    await spoil('bad', envSeal().seal({}, ownerOf('bad')));
    await report(unopenable);
    await spoil('bad', LOST_KEY);
    await report(unopenable);
    expect(error).toHaveBeenCalledTimes(2);
  });
});
