import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { NODE_BASE_IMAGE, loadNodeBase, makeTempFolder, type TempFolder } from '@berth/servers';
import { eventually } from '@berth/testing';
import { useContainerEngine } from '@berth/testing/containers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { FurtherHost } from './stack/further-host.js';
import { ROWS, expectedOf, namesInContract, theirs, type GivenWorker } from './stack/worker-variables.js';

const WORKERS = resolve(import.meta.dirname, '../../../apps/worker-agent/test/workers');
const SUITE_MS = 600_000;
const TEST_MS = 300_000;
const WAIT = { deadlineMs: 150_000, intervalMs: 250 };
const GPU = 'NVIDIA GeForce RTX 4090:1:12.4';
/** Of each host: one worker of the volumes takes all of it. */
const VCPUS = 16;
/** A center of containers, another one, and one whose host runs processes. */
const [HERE, NORTH, BARE] = ['LOCAL-1', 'NORTH-1', 'BARE-1'] as const;

interface WorkerList {
  readonly workers: readonly { readonly id: string; readonly status: string; readonly hostId?: string }[];
}
interface Told {
  readonly status: string;
  readonly workerId: string;
  readonly output: { readonly env: Readonly<Record<string, string>> };
}
interface Kept {
  readonly status: string;
  readonly workerId: string;
  readonly output: { readonly lines: readonly string[]; readonly volumeId: string; readonly path: string };
}

const fixture = useContainerEngine({ hasBaseImage: true });

// Nested, so that the stack is stopped before its engine, on failure too.
describe('what workers are given', () => {
  let stack: StartedStack;
  let storage: TempFolder;
  const hosts: FurtherHost[] = [];
  const tenant = new TenantClient(() => stack.dev, 90_000);

  const addHost = async (dataCenterId: string, settings: Record<string, string>): Promise<FurtherHost> => {
    const shared = { BERTH_VCPUS: String(VCPUS), BERTH_SIMULATED_GPUS: GPU, BERTH_VOLUMES: storage.path };
    const name = `${dataCenterId}-${String(hosts.length)}`.toLowerCase();
    const host = await FurtherHost.add(stack, tenant, { name, dataCenterId, settings: { ...shared, ...settings } });
    hosts.push(host);
    return host;
  };
  const containers = (): Record<string, string> => ({
    ...{ BERTH_RUNTIME: 'docker', BERTH_DOCKER_SOCKET: fixture.engine.socketPath, BERTH_CONFINEMENT: 'optional' },
  });

  const created = async (path: string, body: object): Promise<string> => {
    const answer = await tenant.manage<{ readonly id: string }>('POST', path, body);
    expect(answer).toMatchObject({ status: 201 });
    return answer.body.id;
  };
  const volumeIn = (dataCenter: string): Promise<string> =>
    created('/v2/network-volumes', { name: 'weights', size: 10, dataCenter });
  const endpoint = (image: string, more: object): Promise<string> =>
    created('/v2/serverless', {
      ...{ name: image, type: 'QUEUE', image: `local/${image}`, scaling: { type: 'REQUEST_COUNT', requestCount: 1 } },
      ...{ workers: { min: 1, max: 1 }, ...more },
    });
  const removed = async (endpointId: string): Promise<void> => {
    expect((await tenant.manage('DELETE', `/v2/serverless/${endpointId}`)).status).toBe(204);
  };
  const workersOf = async (endpointId: string): Promise<WorkerList['workers']> =>
    (await tenant.manage<WorkerList>('GET', `/v2/serverless/${endpointId}/workers`)).body.workers;
  const run = async <Body extends { readonly status: string }>(endpointId: string, input: object): Promise<Body> => {
    const { body } = await tenant.job<Body>('POST', `/${endpointId}/runsync?wait=90000`, { input });
    expect(body.status).toBe('COMPLETED');
    return body;
  };

  beforeAll(async () => {
    const { engine } = fixture;
    await loadNodeBase(engine);
    for (const name of ['keeper', 'teller']) {
      await engine.buildImage(`local/${name}:latest`, join(WORKERS, name), { BASE: NODE_BASE_IMAGE });
    }
    storage = await makeTempFolder('berth-storage-');
    stack = await StartedStack.start([
      ...['--runtime', 'docker', '--docker-socket', engine.socketPath, '--demo', 'off'],
      ...['--vcpus', String(VCPUS), '--simulated-gpus', GPU],
    ]);
    await addHost(BARE, { BERTH_RUNTIME: 'process', BERTH_IMAGES: WORKERS });
  }, SUITE_MS);

  afterAll(async () => {
    for (const host of hosts) await host.remove();
    await stack.stop();
    await stack.remove();
    await storage.remove();
  }, SUITE_MS);

  test('every variable that published documents name has its row here', async () => {
    const page = await readFile(resolve(import.meta.dirname, '../../../docs/wire-contract.md'), 'utf8');
    expect(ROWS.map(({ name }) => name).toSorted()).toEqual(namesInContract(page).toSorted());
  });

  describe.each([
    ['a container', HERE, 'docker'],
    ['a process', BARE, 'process'],
  ] as const)('variables as %s has them', (_, dataCenterId, runtime) => {
    test.each([
      ['with a GPU and a volume, and a tenant who sets each of them', true, true],
      ['with a GPU and a volume, and a tenant who sets none', true, false],
      ['with neither, and a tenant who sets none', false, false],
      ['with neither, and a tenant who sets each of them', false, true],
    ])(
      '%s',
      async (__, isRich, isClaimed) => {
        const volumeId = isRich ? await volumeIn(dataCenterId) : null;
        const endpointId = await endpoint('teller', {
          dataCenterIds: [dataCenterId],
          ...(isRich ? { gpu: { pools: ['ADA_24'], count: 1 } } : { cpu: [{ id: 'cpu3c', vcpuCount: 2 }] }),
          ...(volumeId === null ? {} : { networkVolumes: [volumeId] }),
          ...(isClaimed ? { env: theirs() } : {}),
        });
        const { output, workerId } = await run<Told>(endpointId, {});
        const place = { dataCenterId, runtime, volumeId };
        const worker: GivenWorker = { workerId, endpointId, isRich, isClaimed, ...place };
        const had = Object.fromEntries(ROWS.map(({ name }) => [name, output.env[name] ?? null]));
        expect(had).toEqual(expectedOf(worker));
        const secrets = [stack.dev.apiKey, stack.dev.databaseUrl, stack.dev.natsUrl];
        for (const secret of secrets) expect(Object.values(output.env).join('\n')).not.toContain(secret);
        await removed(endpointId);
      },
      TEST_MS,
    );
  });

  test(
    'the volume of its own data center, whose files outlive worker, release and host',
    async () => {
      const first = await addHost(NORTH, containers());
      const volumes = { [HERE]: await volumeIn(HERE), [NORTH]: await volumeIn(NORTH) };
      const endpointId = await endpoint('keeper', {
        ...{ networkVolumes: Object.values(volumes), cpu: [{ id: 'cpu3c', vcpuCount: VCPUS }] },
        workers: { min: 2, max: 2 },
      });
      const told = new Map<string, string[]>(Object.values(volumes).map((id) => [id, []]));
      let asked = 0;
      /** Jobs until each of two workers that were not there before has one; each finds what its center's volume has. */
      const writeFromBoth = async (known: ReadonlySet<string>): Promise<ReadonlySet<string>> => {
        const seen = new Map<string, string>();
        await eventually(async () => {
          asked += 1;
          const line = `line ${String(asked)}`;
          const { output, workerId } = await run<Kept>(endpointId, { keep: line });
          const lines = told.get(output.volumeId);
          lines?.push(line);
          expect(output.lines).toEqual(lines);
          expect(output.path).toBe('/runpod-volume');
          if (!known.has(workerId)) seen.set(workerId, output.volumeId);
          expect([...seen.values()].toSorted()).toEqual(Object.values(volumes).toSorted());
        }, WAIT);
        const workers = await workersOf(endpointId);
        for (const [workerId, volumeId] of seen) {
          const host = workers.find(({ id }) => id === workerId)?.hostId;
          expect(volumeId === volumes[NORTH]).toBe(host !== stack.dev.agents[0]?.hostId);
        }
        return new Set(seen.keys());
      };

      const before = await writeFromBoth(new Set());
      const patched = await tenant.manage('PATCH', `/v2/serverless/${endpointId}`, { env: { RELEASE: 'two' } });
      expect(patched.status).toBe(200);
      const after = await writeFromBoth(before);
      expect([...after].filter((id) => before.has(id))).toEqual([]);

      expect(await first.end('SIGTERM')).toBe(0);
      expect((await tenant.manage('DELETE', `/v2/hosts/${first.hostId}?force=true`)).status).toBe(204);
      const second = await addHost(NORTH, containers());
      const north = await eventually(async () => {
        const found = (await workersOf(endpointId)).find(({ hostId }) => hostId === second.hostId);
        expect(found?.status).toBe('IDLE');
        return String(found?.id);
      }, WAIT);
      const survivors = new Set([...after].filter((id) => id !== north));
      expect(survivors.size).toBe(2);
      await eventually(async () => {
        asked += 1;
        const line = `line ${String(asked)}`;
        const { output, workerId } = await run<Kept>(endpointId, { keep: line });
        const lines = told.get(output.volumeId);
        lines?.push(line);
        expect(output.lines).toEqual(lines);
        expect(workerId).toBe(north);
        expect(output.volumeId).toBe(volumes[NORTH]);
      }, WAIT);
      await removed(endpointId);
    },
    TEST_MS,
  );
});
