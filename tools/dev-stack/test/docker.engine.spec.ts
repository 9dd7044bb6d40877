import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { BASE_IMAGE, NODE_BASE_IMAGE, loadNodeBase, pollUntil } from '@berth/servers';
import { ImageRegistry, makeSmallImage, useContainerEngine } from '@berth/testing/containers';
import { SAMPLE_IMAGE, chooseRuntime } from '../src/choose-runtime.js';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { clientPython, driveOfficialClient } from './stack/official-client.js';

const run = promisify(execFile);
const EXAMPLES = resolve(import.meta.dirname, '../../../examples/workers');
const NODE_ECHO = 'local/node-echo:latest';
const SUITE_MS = 600_000;
const JOB_MS = 90_000;
const GIB = 1024 ** 3;

/** What these tests read of `docker inspect`. */
interface Container {
  readonly Name: string;
  readonly Config: { readonly Env: readonly string[]; readonly Labels: Record<string, string> };
  readonly HostConfig: Record<string, unknown>;
  readonly Mounts: readonly unknown[];
}

interface JobBody {
  readonly id: string;
  readonly status: string;
  readonly output?: unknown;
  readonly retries?: number;
  readonly queue?: { readonly reason: string; readonly detail: string };
}

interface WorkersBody {
  readonly workers: readonly { readonly id: string; readonly hostId?: string; readonly reason?: string }[];
}

const fixture = useContainerEngine({ hasBaseImage: true });

const docker = async (...words: readonly string[]): Promise<string> => {
  const { stdout } = await run('docker', ['--host', fixture.engine.host, ...words]);
  return stdout.trim();
};

/** Ids of the containers there are, running or not. */
const containerIds = async (...filters: readonly string[]): Promise<readonly string[]> => {
  const words = filters.flatMap((filter) => ['--filter', filter]);
  const text = await docker('ps', '--all', '--no-trunc', '--format', '{{.ID}}', ...words);
  return text.split('\n').filter(Boolean);
};

const inspect = async (containerId: string): Promise<Container> =>
  (JSON.parse(await docker('inspect', containerId)) as [Container])[0];

async function makeImages(): Promise<void> {
  const { engine } = fixture;
  await Promise.all([
    clientPython(),
    engine.buildImage(SAMPLE_IMAGE, join(EXAMPLES, 'python-echo'), { BASE: BASE_IMAGE }),
    loadNodeBase(engine).then(() =>
      engine.buildImage(NODE_ECHO, join(EXAMPLES, 'node-echo'), { BASE: NODE_BASE_IMAGE }),
    ),
  ]);
}

// Nested, so that the stack is stopped before its engine, on failure too.
describe('npm start with containers', () => {
  let stack: StartedStack | undefined;
  let nodeEchoId = '';

  const running = (): StartedStack => {
    if (stack === undefined) throw new Error('The stack starts in beforeAll.');
    return stack;
  };
  const client = new TenantClient(() => running().dev, JOB_MS);
  const flags = (runtime: string): readonly string[] => [
    '--runtime',
    runtime,
    '--docker-socket',
    fixture.engine.socketPath,
  ];

  const createEndpoint = async (name: string, image: string, workersMin: number): Promise<string> => {
    const { body } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
      name,
      type: 'QUEUE',
      image,
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
      workers: { min: workersMin, max: 1 },
    });
    return body.id;
  };
  const submit = async (endpointId: string, input: object): Promise<string> =>
    (await client.job<JobBody>('POST', `/${endpointId}/run`, { input })).body.id;
  const status = async (endpointId: string, jobId: string): Promise<JobBody> =>
    (await client.job<JobBody>('GET', `/${endpointId}/status/${jobId}`)).body;
  const untilStatus = (endpointId: string, jobId: string, wanted: string): Promise<JobBody> =>
    pollUntil(
      async () => {
        const job = await status(endpointId, jobId);
        return job.status === wanted ? job : undefined;
      },
      { what: `${wanted} of job ${jobId}`, deadlineMs: JOB_MS },
    );
  const workers = async (endpointId: string): Promise<WorkersBody['workers']> =>
    (await client.manage<WorkersBody>('GET', `/v2/serverless/${endpointId}/workers`)).body.workers;
  const containerOf = (endpointId: string): Promise<string> =>
    pollUntil(async () => (await containerIds(`label=berth.endpoint=${endpointId}`, 'status=running'))[0], {
      what: `a running container of endpoint ${endpointId}`,
      deadlineMs: JOB_MS,
    });

  beforeAll(async () => {
    await makeImages();
    stack = await StartedStack.start(flags('docker'));
    nodeEchoId = await createEndpoint('node-echo', NODE_ECHO, 1);
    await pollUntil(() => (/^first job /m.test(running().output) ? true : undefined), {
      what: 'the first job',
      deadlineMs: JOB_MS,
    });
  }, SUITE_MS);

  afterAll(async () => {
    await stack?.stop();
    await stack?.remove();
  }, SUITE_MS);

  test(
    'runs the first job in a container with the official SDK',
    async () => {
      expect(running().output).toMatch(/^runtime: docker \(as asked for\)$/m);
      expect(running().output).toContain(`engine: ${fixture.engine.host} (BERTH_DOCKER_SOCKET)`);
      expect(running().output).not.toContain('WARNING: containers are not confined');
      expect(running().output).toMatch(/^first job .*: COMPLETED/m);
      expect(running().dev.runtime).toBe('docker');
      const [container = ''] = await containerIds(`ancestor=${SAMPLE_IMAGE}`);
      const program = 'import importlib.metadata as m; print(m.version("runpod"))';
      expect(await docker('exec', container, '/opt/venv/bin/python', '-c', program)).toBe('1.12.0');
    },
    JOB_MS,
  );

  test(
    'serves the published Python client: run, run_sync, status, cancel, health',
    async () => {
      const { body } = await client.manage<{ endpoints: { id: string; name: string }[] }>('GET', '/v2/serverless');
      const endpointId = body.endpoints.find(({ name }) => name === 'python-echo')?.id ?? '';
      const report = await driveOfficialClient(running().dev, endpointId);
      expect(report).toMatchObject({
        status: 'COMPLETED',
        output: { echo: { message: 'ahoy' } },
        run_sync: { echo: { message: 'in sync' } },
        before_cancel: 'IN_PROGRESS',
        after_cancel: 'CANCELLED',
      });
      expect(report.health.jobs).toMatchObject({ inQueue: 0, failed: 0 });
    },
    2 * JOB_MS,
  );

  test(
    'gives a container labels, limits, no privilege and none of the secrets of the stack',
    async () => {
      const containerId = await containerOf(nodeEchoId);
      const [worker] = await workers(nodeEchoId);
      const cores = Number(await docker('info', '--format', '{{.NCPU}}'));
      const { Config: config, HostConfig: limits, Mounts: mounts, Name: name } = await inspect(containerId);
      expect(name).toBe(`/berth-${worker?.id ?? ''}`);
      expect(config.Labels).toMatchObject({
        'berth.host': worker?.hostId,
        'berth.worker': worker?.id,
        'berth.endpoint': nodeEchoId,
        'berth.release': '1',
        'berth.image': NODE_ECHO,
      });
      expect(limits).toMatchObject({
        NanoCpus: Math.min(2, cores) * 1e9,
        Memory: 4 * GIB,
        MemorySwap: 4 * GIB,
        PidsLimit: 4_096,
        Privileged: false,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
        NetworkMode: `berth-${worker?.hostId ?? ''}`,
        PidMode: '',
        Binds: null,
      });
      expect(mounts).toEqual([]);
      expect(limits['CapAdd']).not.toContain('NET_RAW');
      expect(limits['CapAdd']).not.toContain('MKNOD');
      expect(await docker('exec', containerId, 'grep', '-E', '^(CapEff|NoNewPrivs)', '/proc/1/status')).toBe(
        'CapEff:\t00000000a00405fb\nNoNewPrivs:\t1',
      );
      const environment = config.Env.join('\n');
      expect(environment).not.toMatch(/^BERTH_/m);
      for (const secret of [running().dev.apiKey, running().dev.databaseUrl, running().dev.natsUrl]) {
        expect(environment).not.toContain(secret);
      }
    },
    JOB_MS,
  );

  test(
    'says why a missing image does not start, and the job waits',
    async () => {
      const endpointId = await createEndpoint('nothing there', 'local/not-there', 0);
      const jobId = await submit(endpointId, {});
      const isTold = async (): Promise<true | undefined> =>
        (await workers(endpointId)).some(({ reason }) => reason?.includes('Image local/not-there is not on this host'))
          ? true
          : undefined;
      await pollUntil(isTold, { what: 'the reason in the workers list', deadlineMs: 15_000 });
      expect((await status(endpointId, jobId)).status).toBe('IN_QUEUE');
      expect((await client.manage('DELETE', `/v2/serverless/${endpointId}`)).status).toBe(204);
    },
    JOB_MS,
  );

  test(
    'says to a waiting job how much of its image is here',
    async () => {
      const registry = new ImageRegistry();
      await registry.start();
      const goOn = registry.holdLayers();
      const image = registry.serve('team/worker', '1', await makeSmallImage(fixture.engine));
      const endpointId = await createEndpoint('from a registry', image, 0);
      const jobId = await submit(endpointId, {});
      let share = 0;
      const told = (pattern: RegExp): Promise<unknown> =>
        pollUntil(
          async () => {
            share = Math.min(0.9, share + 0.02);
            goOn(share);
            const { queue } = await status(endpointId, jobId);
            return queue?.reason === 'worker-starting' && pattern.test(queue.detail) ? true : undefined;
          },
          { what: `worker-starting with ${String(pattern)}`, deadlineMs: JOB_MS, intervalMs: 200 },
        );
      await told(/the image is being pulled, [1-9]\d? %/);
      goOn(1);
      await told(/the worker has not asked for a job yet/);
      expect((await client.manage('DELETE', `/v2/serverless/${endpointId}`)).status).toBe(204);
      await registry.stop();
    },
    JOB_MS,
  );

  test(
    'completes the job of a container that was killed on another one',
    async () => {
      const jobId = await submit(nodeEchoId, { sleep: 3 });
      await untilStatus(nodeEchoId, jobId, 'IN_PROGRESS');
      const killed = await containerOf(nodeEchoId);
      await docker('kill', killed);
      const job = await untilStatus(nodeEchoId, jobId, 'COMPLETED');
      expect(job.output).toEqual({ echo: { sleep: 3 } });
      expect(job.retries).toBe(1);
      expect(await containerOf(nodeEchoId)).not.toBe(killed);
    },
    2 * JOB_MS,
  );

  test(
    'removes every container on SIGTERM; by itself it takes containers again, and a job cut short is done over',
    async () => {
      const jobId = await submit(nodeEchoId, { sleep: 60 });
      await untilStatus(nodeEchoId, jobId, 'IN_PROGRESS');
      expect(await containerIds()).not.toEqual([]);
      const { folder } = running();
      expect(await running().stop()).toBe(0);
      expect(await containerIds()).toEqual([]);

      stack = await StartedStack.start([...flags('auto'), '--demo', 'off'], folder);
      expect(running().output).toContain(`runtime: docker (an engine answers and has ${SAMPLE_IMAGE})`);
      expect(running().dev.runtime).toBe('docker');
      await untilStatus(nodeEchoId, jobId, 'IN_PROGRESS');
      await containerOf(nodeEchoId);
      await client.job('POST', `/${nodeEchoId}/cancel/${jobId}`);
      await untilStatus(nodeEchoId, jobId, 'CANCELLED');
    },
    3 * JOB_MS,
  );

  test(
    'does without containers where the sample image is not there',
    async () => {
      await docker('tag', SAMPLE_IMAGE, 'berth-test/elsewhere:1');
      await docker('rmi', SAMPLE_IMAGE);
      const choice = await chooseRuntime({ runtime: 'auto', dockerSocket: fixture.engine.socketPath });
      expect(choice).toEqual({ runtime: 'process', why: `an engine answers but has no image ${SAMPLE_IMAGE}` });
    },
    JOB_MS,
  );
});
