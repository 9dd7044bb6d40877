import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeJson, type WorkerId } from '@berth/domain';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { afterEach, expect, test } from '@jest/globals';
import { ProcessRuntime } from '../src/runtimes/process/process-runtime.js';
import { EXAMPLES, TEST_TIMEOUT_MS, exampleWorker, useAgents } from './agent-bench.js';
import type { AgentProgram } from './agent-program.js';
import { W1 } from './worker-bench.js';
import { testMachine } from './test-machine.js';

const SECRETS = {
  env: 'planted-variable-7f3a91',
  s3: 'planted-s3-secret-c20b44',
  registry: 'planted-registry-password-5d8e',
};

const bench = useAgents();
const { control, endOf, phase } = bench;

afterEach(async () => {
  const runtime = await ProcessRuntime.open({
    workersFolder: join(bench.home, 'workers'),
    imagesFolder: EXAMPLES,
    machine: testMachine(),
    clock: systemClock,
    random: systemRandom,
    environment: {},
    setupEnvironment: {},
  });
  for (const { labels } of await runtime.list()) await runtime.remove(labels.workerId);
  await runtime.close();
}, TEST_TIMEOUT_MS);

const startAgent = (): AgentProgram => bench.start({ BERTH_RUNTIME: 'process', BERTH_IMAGES: EXAMPLES });

const workerWithSecrets = (workerId: WorkerId) => {
  const worker = exampleWorker(workerId, 'local/node-echo');
  return {
    ...worker,
    container: { ...worker.container, env: { API_SECRET: SECRETS.env } },
    registryCredentials: { username: 'robot', password: SECRETS.registry },
  };
};

/** Files of the agent's home that hold any of the secrets, with the secret's name. */
async function leaks(): Promise<readonly string[]> {
  const entries = await readdir(bench.home, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(files.length).toBeGreaterThan(3);
  const found = await Promise.all(files.map(leaksOf));
  return found.flat();
}

async function leaksOf(path: string): Promise<readonly string[]> {
  const bytes = await readFile(path).catch(() => Buffer.alloc(0));
  return Object.entries(SECRETS).flatMap(([name, secret]) => (bytes.includes(secret) ? [`${name} in ${path}`] : []));
}

test(
  'no variable of an endpoint, no storage key of a job and no registry password rests on the disk of a host, and a worker is found again all the same',
  async () => {
    const first = startAgent();
    control.desired = [workerWithSecrets(W1)];
    await phase(W1, 'idle');
    const jobId = control.router.submit({
      input: encodeJson({ sleep: 5, message: 'slow' }),
      extras: { s3Config: { accessId: 'a', accessSecret: SECRETS.s3, bucketName: 'b', endpointUrl: 'https://s3' } },
      endpointId: 'endpoint1',
    });
    await phase(W1, 'busy');
    expect(await leaks()).toEqual([]);
    expect(await first.end('SIGKILL')).toBeNull();
    expect(await leaks()).toEqual([]);

    const second = startAgent();
    expect(await endOf(jobId)).toMatchObject({ output: { echo: { message: 'slow' } } });
    expect(control.router.losses).toEqual([]);
    expect(await leaks()).toEqual([]);
    expect(await second.end('SIGTERM')).toBe(0);
    expect(await leaks()).toEqual([]);
    for (const { output } of [first, second]) {
      for (const secret of Object.values(SECRETS)) expect(output).not.toContain(secret);
    }
  },
  TEST_TIMEOUT_MS,
);
