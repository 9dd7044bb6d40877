import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { useTempFolders } from '@berth/testing/folders';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { InstalledStack } from './stack/installed-stack.js';
import { RollingStack } from './stack/rolling-stack.js';
import { SteadyJobs } from './stack/steady-jobs.js';

const START_MS = 240_000;
const TEST_MS = 240_000;
const WAIT = { deadlineMs: 90_000, intervalMs: 200 };

const tempFolder = useTempFolders();
let stack: InstalledStack;
let rolling: RollingStack;
let endpointId: string;
let jobs: SteadyJobs;
let before: readonly string[];

const rotate = async (what: string, step: string): Promise<void> => {
  const said = JSON.parse(await stack.berth(['init', stack.installation, '--rotate', what, '--step', step, '--json']));
  expect(said).toMatchObject({ rotated: what, step, replaced: expect.arrayContaining([expect.any(String)]) });
};

const tellDatabase = async (): Promise<void> =>
  stack.query(await readFile(join(stack.installation, 'offline/database-password.sql'), 'utf8'));

/** Every secret that a process is given, but for the address of the database as a whole. */
async function secrets(): Promise<readonly string[]> {
  const files = await Promise.all(
    ['management-api', 'controllers', 'job-router', 'postgres'].map((name) => stack.environment(name)),
  );
  return files.flatMap((variables) =>
    Object.entries(variables)
      .filter(([name]) => /_SEED$|_KEY$|_PASSWORD$/.test(name))
      .map(([, value]) => value),
  );
}

/** What `berth doctor` finds, once nothing is wrong and it finds this as well. */
const untilFound = (sentence: RegExp): Promise<void> =>
  eventually(async () => {
    const { findings } = await stack.doctor({ BERTH_OPERATIONS_URLS: rolling.operationsUrls.join(',') });
    expect(findings.filter(({ state }) => state === 'wrong')).toEqual([]);
    expect(findings).toContainEqual(expect.objectContaining({ says: expect.stringMatching(sentence) }));
  }, WAIT);

async function createEndpoint(): Promise<string> {
  const made = await stack.call('POST', `${stack.baseUrl}/v2/serverless`, {
    body: {
      ...{ name: 'node-echo', type: 'QUEUE', image: 'local/node-echo', cpu: [{ id: 'cpu3c', vcpuCount: 2 }] },
      ...{ scaling: { type: 'QUEUE_DELAY', queueDelay: 1 }, workers: { min: 1, max: 2, idleTimeout: 60 } },
      env: { PASSWORD: 'swordfish' },
    },
  });
  expect(made.status).toBe(201);
  return String(made.body.id);
}

beforeAll(async () => {
  stack = await InstalledStack.open(await tempFolder(), 3);
  await stack.migrate();
  rolling = await RollingStack.start(stack);
  const joined = await stack.call('POST', `${stack.baseUrl}/v2/hosts/join-tokens`, { body: { name: 'box' } });
  await stack.startHost(joined.body.token);
  endpointId = await createEndpoint();
  before = await secrets();
  jobs = new SteadyJobs({ endpointId, apiKey: stack.firstKey, runUrls: () => rolling.runUrls });
  await jobs.goesOn();
}, START_MS);

afterAll(async () => {
  await jobs?.end().catch(() => undefined);
  await stack?.close();
}, START_MS);

test(
  'new ones work beside the old ones',
  async () => {
    for (const what of ['secret-key', 'issuer', 'database-password']) await rotate(what, 'add');
    await tellDatabase();
    await rolling.restart('management-api', 'job-router-1', 'job-router-2');
    await jobs.goesOn();
  },
  TEST_MS,
);

test(
  'brokers trust another issuer, and know new keys beside the old ones',
  async () => {
    await rotate('issuer', 'switch');
    await rotate('role-keys', 'add');
    await rolling.restartBrokers();
    await jobs.goesOn();
  },
  TEST_MS,
);

test(
  'new ones are used, one process after the other',
  async () => {
    for (const what of ['role-keys', 'secret-key', 'database-password']) await rotate(what, 'switch');
    await rotate('issuer', 'retire');
    await rolling.restart('management-api', 'controllers', 'job-router-1', 'job-router-2');
    await jobs.goesOn();
  },
  TEST_MS,
);

test(
  'old ones go',
  async () => {
    await rotate('role-keys', 'retire');
    await rolling.restartBrokers();
    await rotate('database-password', 'retire');
    await tellDatabase();
    await untilFound(/secrets are sealed with one key \(\w{8}: \d+\)/);
    await rotate('secret-key', 'retire');
    await rolling.restart('management-api', 'job-router-1', 'job-router-2');
    await jobs.goesOn();
  },
  TEST_MS,
);

test(
  'no job was refused or lost, none of the old secrets is in use, and all is well',
  async () => {
    await jobs.end();
    process.stderr.write(`rotation: ${String(jobs.accepted)} jobs; ${String(jobs.putOff)} calls put off\n`);
    expect(jobs.failures).toEqual([]);
    const now = await secrets();
    expect(now.length).toBe(before.length);
    expect(now.filter((secret) => before.includes(secret))).toEqual([]);
    const endpoint = await stack.call('GET', `${stack.baseUrl}/v2/serverless/${endpointId}`);
    expect(endpoint).toMatchObject({ status: 200, body: { env: { PASSWORD: 'swordfish' } } });
    await untilFound(/secrets are sealed with one key/);
    expect(await stack.checkLog(endpointId)).toContain('WHOLE');
  },
  TEST_MS,
);
