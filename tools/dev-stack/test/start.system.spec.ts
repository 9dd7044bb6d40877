import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeTempFolder, pollUntil } from '@berth/servers';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { driveOfficialClient } from './stack/official-client.js';

const run = promisify(execFile);
const REPOSITORY = resolve(import.meta.dirname, '../../..');
const LAUNCHER = join(REPOSITORY, 'tools/dev-stack/dist/main.js');
const STACK_MS = 300_000;
/** A push takes an instant; a busy machine may take its time. */
const TOLD_WITHIN_MS = 15_000;
const FIRST_JOB_DEADLINE_MS = 240_000;

/** Every process that has the folder in its command line or works in it. */
function processesIn(folder: string): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
      } catch {
        // Ended between the listing and the reading.
        return '';
      }
    })
    .filter((commandLine) => commandLine.includes(folder));
}

describe('npm start', () => {
  let stack: StartedStack;
  let client: TenantClient;

  beforeAll(async () => {
    stack = await StartedStack.start(['--runtime', 'process']);
    client = new TenantClient(() => stack.dev);
    await pollUntil(() => Promise.resolve(/^first job /m.test(stack.output) ? true : undefined), {
      what: 'the first job',
      deadlineMs: FIRST_JOB_DEADLINE_MS,
    });
  }, STACK_MS);

  afterAll(async () => {
    await stack.stop();
    await stack.remove();
  }, STACK_MS);

  test('runs a first job on a worker of the official SDK and prints a curl that works', async () => {
    expect(stack.output).toMatch(/^first job .*: COMPLETED/m);
    const curl = /^curl -X POST[\s\S]*?'\{.*\}'$/m.exec(stack.output)?.[0] ?? '';
    const { stdout } = await run('sh', ['-c', curl]);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'COMPLETED' });
  });

  test('names every process in dev.json', () => {
    const names = [
      'controllers',
      'job-router',
      'launcher',
      'management-api',
      'nats-server',
      'postgres',
      'worker-agent',
    ];
    expect(Object.keys(stack.dev.processes).sort()).toEqual(names);
    expect(stack.dev).toMatchObject({ runtime: 'process', readyAt: expect.stringMatching(/^\d{4}-.*Z$/) as unknown });
  });

  test('serves the published Python client: run, run_sync, status, cancel, health', async () => {
    const { body } = await client.manage<{ endpoints: { id: string }[] }>('GET', '/v2/serverless');
    const endpointId = body.endpoints[0]?.id ?? '';
    const report = await driveOfficialClient(stack.dev, endpointId);
    expect(report).toMatchObject({
      status: 'COMPLETED',
      output: { echo: { message: 'ahoy' } },
      run_sync: { echo: { message: 'in sync' } },
      before_cancel: 'IN_PROGRESS',
      after_cancel: 'CANCELLED',
    });
    expect(report.health.jobs).toMatchObject({ inQueue: 0, failed: 0 });
  });

  test('refuses a key everywhere soon after its revocation, and of the end of its account', async () => {
    const as = (apiKey: string): TenantClient => new TenantClient(() => ({ ...stack.dev, apiKey }));
    const expectRefused = async (tenant: TenantClient, path: string): Promise<void> => {
      expect((await tenant.manage('GET', '/v2/serverless')).status).toBe(401);
      await pollUntil(async () => ((await tenant.job('GET', path)).status === 401 ? true : undefined), {
        what: 'the refusal by the router',
        deadlineMs: TOLD_WITHIN_MS,
      });
    };
    const { body: account } = await client.manage<{ id: string; apiKey: { key: string } }>('POST', '/v2/accounts', {
      name: 'short',
    });
    const owner = as(account.apiKey.key);
    const { body: endpoint } = await owner.manage<{ id: string }>('POST', '/v2/serverless', {
      name: 'short',
      type: 'QUEUE',
      image: 'local/echo',
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      scaling: { type: 'QUEUE_DELAY', queueDelay: 1 },
    });
    const path = `/${endpoint.id}/health`;
    const { body: made } = await owner.manage<{ id: string; key: string }>('POST', '/v2/api-keys', {
      name: 'short',
      preset: 'all',
    });
    expect((await as(made.key).job('GET', path)).status).toBe(200);
    expect((await owner.manage('DELETE', `/v2/api-keys/${made.id}`)).status).toBe(204);
    await expectRefused(as(made.key), path);
    expect((await owner.job('GET', path)).status).toBe(200);
    expect((await client.manage('DELETE', `/v2/accounts/${account.id}`)).status).toBe(204);
    await expectRefused(owner, path);
  });

  test('starts a killed process again and tells its new pid', async () => {
    const before = stack.pidOf('controllers');
    process.kill(before, 'SIGKILL');
    await pollUntil(() => Promise.resolve(stack.pidOf('controllers') === before ? undefined : true), {
      what: 'a new pid of the controllers',
      deadlineMs: 15_000,
    });
  });

  test('says within two seconds why a missing image does not start, and the job waits', async () => {
    const { body: endpoint } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
      name: 'nothing there',
      type: 'QUEUE',
      image: 'local/not-there',
      cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
      scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
      workers: { min: 0, max: 1 },
    });
    const { body: job } = await client.job<{ id: string }>('POST', `/${endpoint.id}/run`, { input: {} });
    const reason = await pollUntil(
      async () => {
        const { body } = await client.manage<{ workers: { reason?: string }[] }>(
          'GET',
          `/v2/serverless/${endpoint.id}/workers`,
        );
        return body.workers.map((worker) => worker.reason ?? '').find((text) => text.includes('not-there'));
      },
      { what: 'the reason in the workers list', deadlineMs: 15_000 },
    );
    expect(reason).toContain('not-there');
    const { body: status } = await client.job<{ status: string }>('GET', `/${endpoint.id}/status/${job.id}`);
    expect(status.status).toBe('IN_QUEUE');
    expect((await client.manage('DELETE', `/v2/serverless/${endpoint.id}`)).status).toBe(204);
  });

  test(
    'stops on SIGTERM, leaves nothing running, and is the same after the next start',
    async () => {
      const { apiKey } = stack.dev;
      const { body: before } = await client.manage<{ endpoints: { id: string }[] }>('GET', '/v2/serverless');
      const { home } = stack;
      expect(await stack.stop()).toBe(0);
      expect(existsSync(join(home, 'dev.json'))).toBe(false);
      await pollUntil(() => Promise.resolve(processesIn(home).length === 0 ? true : undefined), {
        what: 'the end of every process of the stack',
        deadlineMs: 15_000,
      });
      stack = await StartedStack.start(['--runtime', 'process', '--demo', 'off'], stack.folder);
      expect(stack.dev.apiKey).toBe(apiKey);
      const { body: after } = await client.manage<{ endpoints: { id: string }[] }>('GET', '/v2/serverless');
      expect(after.endpoints.map(({ id }) => id)).toEqual(before.endpoints.map(({ id }) => id));
    },
    STACK_MS,
  );

  test(
    'repairs what kill -9 of the launcher left behind',
    async () => {
      const { folder, home } = stack;
      process.kill(stack.pidOf('launcher'), 'SIGKILL');
      stack = await StartedStack.start(['--runtime', 'process', '--demo', 'off'], folder);
      expect(stack.home).toBe(home);
      expect((await client.manage('GET', '/v2/serverless')).status).toBe(200);
    },
    STACK_MS,
  );

  test(
    'ends every accepted job after all processes were killed at once',
    async () => {
      const { body } = await client.manage<{ endpoints: { id: string }[] }>('GET', '/v2/serverless');
      const path = `/${body.endpoints[0]?.id ?? ''}`;
      const submit = (): Promise<{ body: { id: string } }> =>
        client.job('POST', `${path}/run`, { input: { sleep: 1 } });
      const jobs = await Promise.all(Array.from({ length: 6 }, submit));
      await pollUntil(
        async () => {
          const { body: health } = await client.job<{ jobs: { inProgress: number } }>('GET', `${path}/health`);
          return health.jobs.inProgress > 0 ? true : undefined;
        },
        { what: 'a running job', deadlineMs: 30_000 },
      );
      for (const pid of Object.values(stack.dev.processes)) process.kill(pid, 'SIGKILL');
      stack = await StartedStack.start(['--runtime', 'process', '--demo', 'off'], stack.folder);
      for (const job of jobs) {
        const status = await pollUntil(
          async () => {
            const { body: read } = await client.job<{ status: string }>('GET', `${path}/status/${job.body.id}`);
            return read.status === 'IN_QUEUE' || read.status === 'IN_PROGRESS' ? undefined : read.status;
          },
          { what: `the end of job ${job.body.id}`, deadlineMs: 120_000, intervalMs: 250 },
        );
        expect(status).toBe('COMPLETED');
      }
    },
    STACK_MS,
  );
});

describe('npm start refuses what it cannot do', () => {
  const launch = async (
    args: readonly string[],
  ): Promise<{ readonly code: number; readonly stderr: string; readonly stdout: string }> => {
    try {
      return { code: 0, ...(await run(process.execPath, [LAUNCHER, ...args], { timeout: 60_000 })) };
    } catch (error) {
      return error as { code: number; stderr: string; stdout: string };
    }
  };
  const start = async (flags: readonly string[]): ReturnType<typeof launch> => {
    const folder = await makeTempFolder('berth-refused-');
    try {
      return await launch(['--home', folder.path, ...flags]);
    } finally {
      await folder.remove();
    }
  };

  test.each([
    ['a port that is no port', ['--ports', '99999999'], 'BERTH_PORTS'],
    ['a runtime that does not exist', ['--runtime', 'podman'], 'BERTH_RUNTIME'],
    [
      'a container engine that is not there',
      ['--runtime', 'docker', '--docker-socket', '/nowhere.sock'],
      'BERTH_RUNTIME',
    ],
    ['an unknown flag', ['--prots', 'auto'], '--prots'],
    [
      'a broker that is not there',
      ['--nats-url', 'nats://berth:secret@127.0.0.1:1'],
      'BERTH_NATS_URL: nothing answers',
    ],
    ['a database that is not there', ['--database-url', 'postgres://a:b@127.0.0.1:1/c'], 'BERTH_DATABASE_URL: nothing'],
    ['a broker address of another kind', ['--nats-url', 'http://127.0.0.1'], 'BERTH_NATS_URL'],
  ])('%s', async (_, flags, named) => {
    const { code, stderr } = await start(flags);
    expect(code).toBe(1);
    expect(stderr).toContain(named);
    expect(stderr).not.toContain('secret');
  });

  test('what a process of it cannot use ends it with the sentence of that process', async () => {
    const auto = ['--ports', 'auto', '--runtime', 'process', '--demo', 'off'];
    const { code, stderr, stdout } = await start([...auto, '--webhook-allowed-networks', 'nonsense']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^job-router: Bad settings:\n {2}BERTH_WEBHOOK_ALLOWED_NETWORKS must be networks/m);
    expect(stdout).not.toContain('starting it again');
  });

  test('a home that is a file, that lies in a file, or where nothing can be written', async () => {
    const folder = await makeTempFolder('berth-home-');
    const file = join(folder.path, 'file');
    await writeFile(file, '');
    for (const home of [file, join(file, 'below'), '/proc/berth']) {
      const { code, stderr } = await launch(['--home', home, '--ports', 'auto', '--runtime', 'process']);
      expect(stderr).toMatch(/^Bad settings:\n {2}BERTH_HOME: \S+ cannot be used: .+ Choose another folder\.\n$/);
      expect(stderr).toContain(home);
      expect(code).toBe(1);
    }
    await folder.remove();
  });

  test('and says what it can do when it is asked, without doing any of it', async () => {
    const folder = await makeTempFolder('berth-help-');
    const { code, stdout } = await launch(['--home', join(folder.path, 'home'), '--help']);
    expect(stdout).toContain('BERTH_HOME, default: .berth');
    expect(existsSync(join(folder.path, 'home'))).toBe(false);
    expect(code).toBe(0);
    await folder.remove();
  });

  test('a port in use', async () => {
    const blocker = createServer();
    await new Promise<void>((resolvePort) => blocker.listen(0, '127.0.0.1', resolvePort));
    const { port } = blocker.address() as AddressInfo;
    const { code, stderr } = await start(['--ports', String(Math.min(port, 65_526))]);
    blocker.close();
    expect(code).toBe(1);
    expect(stderr).toContain('in use');
  });
});
