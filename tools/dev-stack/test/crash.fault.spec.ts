import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@berth/lifecycle';
import { pollUntil } from '@berth/servers';
import { SeededRandom } from '@berth/testing';
import { checkCharges, checkHistory, checkPurges, excuseReruns, type Execution } from '@berth/testing/checker';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { readCrashConfig } from './config.js';
import { ApiCaller } from './crash/api-caller.js';
import { HookReceiver } from './crash/hook-receiver.js';
import { PurgeRounds } from './crash/purge-rounds.js';
import { attemptsOf, lossesOf, tellStory, type Story } from './crash/story.js';
import { Tenant } from './crash/tenant.js';
import { Diary } from './stack/diary.js';
import { injectFaults, planFaults } from './stack/faults.js';

const { jobs: JOBS, rounds: ROUNDS, seed: SEED } = readCrashConfig();
const WORKERS = 16;
const SUBMITTERS = 6;
const PAUSE_MAX_MS = 330;
const REST_DEADLINE_MS = 240_000;
const TOLD_DEADLINE_MS = 60_000;
const SUITE_MS = 1_200_000;
const IMAGES = resolve(import.meta.dirname, 'workers');
/** Without limits: it asks much faster than a tenant may. */
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off', '--routers', '2'];

describe(`${JOBS} jobs while every process is killed and some stand still, seed ${SEED} (BERTH_CRASH_SEED)`, () => {
  let stack: StartedStack;
  let receiver: HookReceiver;

  beforeAll(async () => {
    process.stderr.write(
      `crash suite: BERTH_CRASH_SEED=${SEED} BERTH_CRASH_ROUNDS=${ROUNDS} BERTH_CRASH_JOBS=${JOBS}\n`,
    );
    receiver = await HookReceiver.open();
    stack = await StartedStack.start(FLAGS);
  }, SUITE_MS);

  afterAll(async () => {
    await stack.stop();
    await stack.remove();
    receiver.close();
  }, SUITE_MS);

  test(
    'keeps every promise about every job, and about what was done with it',
    async () => {
      const random = new SeededRandom(SEED);
      const diary = new Diary(join(stack.home, 'diary.jsonl'));
      const apiOf = async (name: string, workers: number): Promise<ApiCaller> =>
        new ApiCaller(() => stack.dev, await createEndpoint(stack, name, workers));
      const tenant = new Tenant({ api: await apiOf('diary', WORKERS), random, receiver });
      const purges = new PurgeRounds(await apiOf('purged', 0), new SeededRandom(SEED + 2));
      const faults = planFaults(random, ROUNDS);
      const logFile = join(stack.home, 'faults.log');
      const inject = injectFaults(faults, { stack, diary, random: new SeededRandom(SEED + 1), logFile });
      const troubles = await during([tenant, purges], async () => {
        const [caused] = await Promise.all([inject, submitAll(tenant, random)]);
        await atRest(tenant);
        return caused;
      });
      await tenant.finish();
      process.stderr.write(`crash suite: ${summaryOf(tenant, diary.executions(), faults.length)}\n`);
      const suspected = checkHistory({ accepted: tenant.entries, executions: diary.executions() });
      const stories = await storiesOf(tenant, [...suspected.map(({ jobId }) => jobId), ...tenant.charges.keys()]);
      const broken = [
        ...excuseReruns(suspected, lossesOf(stories), troubles.standstills),
        ...[...tenant.charges].flatMap(([jobId, charged]) =>
          checkCharges({ jobId, charged, attempts: attemptsOf(stories.get(jobId) ?? {}) }, troubles.faults),
        ),
      ];
      for (const { jobId } of broken) {
        process.stderr.write(tellStory(stories.get(jobId), { jobId, executions: diary.executions(), logFile }));
      }
      expect(broken).toEqual([]);
      expect(tenant.check()).toEqual([]);
      expect(checkPurges(await purges.count())).toEqual([]);
    },
    SUITE_MS,
  );
});

async function storiesOf(tenant: Tenant, jobIds: readonly string[]): Promise<ReadonlyMap<string, Story>> {
  const stories = new Map<string, Story>();
  for (const jobId of jobIds) stories.set(jobId, await tenant.lookInto(jobId));
  return stories;
}

/** What goes on for as long as something else takes. */
interface Companion {
  go(signal: AbortSignal): Promise<void>;
}

async function during<T>(companions: readonly Companion[], action: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const going = companions.map((companion) => companion.go(over.signal));
  try {
    return await action();
  } finally {
    over.abort();
    await Promise.all(going);
  }
}

async function atRest(tenant: Tenant): Promise<void> {
  const isTrue = (condition: () => boolean) => (): Promise<true | undefined> =>
    Promise.resolve(condition() ? true : undefined);
  const ended = { what: 'the end of every job', deadlineMs: REST_DEADLINE_MS };
  await pollUntil(
    isTrue(() => tenant.isAtRest),
    ended,
  ).catch((cause: unknown) => {
    throw new Error(`not at rest: ${tenant.restless.slice(0, 20).join(', ')}`, { cause });
  });
  await pollUntil(
    isTrue(() => tenant.untold === 0),
    { what: 'every webhook', deadlineMs: TOLD_DEADLINE_MS },
  );
}

function summaryOf(tenant: Tenant, executions: readonly Execution[], faults: number): string {
  const ends = Map.groupBy(tenant.entries, ({ reads }) => reads.at(-1)?.status ?? '404');
  const counts = [...ends].map(([status, ended]) => `${ended.length} ${status}`).join(', ');
  const kinds = ['keyed', 'cancelled', 'retried', 'told', 'short-lived', 'streamed'] as const;
  const done = kinds.map((kind) => `${tenant.countOf(kind)} ${kind}`).join(', ');
  const jobs = `${tenant.accepted} jobs (${counts}; ${done}; ${tenant.charges.size} charged)`;
  return `${faults} faults, ${jobs}, ${executions.length} executions`;
}

async function submitAll(tenant: Tenant, random: SeededRandom): Promise<void> {
  const submit = async (): Promise<void> => {
    while (tenant.accepted < JOBS) {
      await tenant.submit();
      await systemClock.sleep(random.integer(0, PAUSE_MAX_MS));
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, submit));
}

async function createEndpoint(stack: StartedStack, name: string, workers: number): Promise<string> {
  const client = new TenantClient(() => stack.dev);
  const { body, status } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
    name,
    type: 'QUEUE',
    image: 'local/diary',
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 0, max: workers },
    env: { DIARY: join(stack.home, 'diary.jsonl') },
  });
  expect(status).toBe(201);
  return body.id;
}
