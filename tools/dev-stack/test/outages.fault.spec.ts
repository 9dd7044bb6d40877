import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { systemClock } from '@berth/lifecycle';
import { pollUntil } from '@berth/servers';
import { StartedStack } from '../src/started-stack.js';
import { TenantClient } from '../src/tenant-client.js';
import { Diary } from './stack/diary.js';

const IMAGES = resolve(import.meta.dirname, 'workers');
const SUITE_MS = 300_000;
const CALL_MS = 60_000;
const AWAY_MS = 60_000;
const ROUNDS = 3;
const AWAY = ['management-api', 'controllers', 'postgres'] as const;

interface JobBody {
  readonly id: string;
  readonly status: string;
  readonly retries?: number;
}

let stack: StartedStack;
let client: TenantClient;

beforeAll(async () => {
  stack = await StartedStack.start(['--runtime', 'process', '--images', IMAGES, '--demo', 'off']);
  client = new TenantClient(() => stack.dev, CALL_MS);
}, SUITE_MS);

afterAll(async () => {
  signalAll('SIGCONT');
  await stack.stop();
  await stack.remove();
}, SUITE_MS);

/** A process that stands still answers nobody; one that is killed would be back within a second. */
const signalAll = (signal: NodeJS.Signals): void => {
  for (const name of AWAY) process.kill(stack.pidOf(name), signal);
};

const runSync = async (endpointId: string): Promise<JobBody> => {
  const input = { input: { echo: 'ahoy', sleepMs: 0 } };
  return (await client.job<JobBody>('POST', `/${endpointId}/runsync?wait=30000`, input)).body;
};

type LineChange = 'disconnect' | 'reconnect';
interface LogLine {
  readonly msg: string;
  readonly connection?: string;
}
/** Of the router: over these it hears agents, and keeps what it owns. */
const LINES = ['agents', 'logs'];

/** How often each has changed so, as the router's log tells it. A line that is being written is none yet. */
function changesOf(kind: LineChange): readonly number[] {
  const texts = readFileSync(join(stack.home, 'logs/job-router.log'), 'utf8').split('\n').slice(0, -1);
  const told = texts.map((text) => JSON.parse(text) as LogLine).filter(({ msg }) => msg === `nats: ${kind}`);
  return LINES.map((line) => told.filter(({ connection }) => connection?.endsWith(` ${line}`)).length);
}

/** Resolves when the router has noticed that the broker is gone. */
async function untilBrokerIsAway(before: readonly number[]): Promise<void> {
  await until('a router that has lost its broker', () =>
    changesOf('disconnect').every((count, line) => count > (before[line] ?? 0)),
  );
}

const untilBrokerIsBack = (): Promise<true> =>
  until('a router that has its broker back', () =>
    changesOf('reconnect').every((count, line) => count === changesOf('disconnect')[line]),
  );

const until = (what: string, isTrue: () => boolean): Promise<true> =>
  pollUntil(() => Promise.resolve(isTrue() ? true : undefined), { what, deadlineMs: CALL_MS, intervalMs: 10 });

const doneAfterwards = (endpointId: string): Promise<JobBody> =>
  pollUntil(
    async () => {
      const job = await runSync(endpointId).catch(() => undefined);
      return job?.status === 'COMPLETED' ? job : undefined;
    },
    { what: 'a job done after the broker was killed', deadlineMs: CALL_MS, intervalMs: 100 },
  );

const historyOf = async (endpointId: string, jobId: string): Promise<readonly object[]> =>
  (await client.job<{ history: readonly object[] }>('GET', `/${endpointId}/requests/${jobId}`)).body.history;

const createEndpoint = async (name: string): Promise<string> => {
  const { body } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
    name,
    type: 'QUEUE',
    image: 'local/diary',
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 1, max: 1 },
    env: { DIARY: join(stack.home, `${name}.jsonl`) },
  });
  return body.id;
};

test(
  'jobs go on for a minute without control plane and database: accepted, taken, done, read',
  async () => {
    const endpointId = await createEndpoint('steady');
    const diary = new Diary(join(stack.home, 'steady.jsonl'));
    expect((await runSync(endpointId)).status).toBe('COMPLETED');
    signalAll('SIGSTOP');
    const untilMs = systemClock.monotonicMs() + AWAY_MS;
    const ids: string[] = [];
    while (systemClock.monotonicMs() < untilMs) {
      const job = await runSync(endpointId);
      expect(job.status).toBe('COMPLETED');
      ids.push(job.id);
      expect((await client.job<JobBody>('GET', `/${endpointId}/status/${job.id}`)).body.status).toBe('COMPLETED');
      await systemClock.sleep(250);
    }
    const ready = await fetch(`${stack.dev.operations['job-router']}/readyz`);
    expect(await ready.json()).toMatchObject({ status: 'ready' });
    signalAll('SIGCONT');
    const executed = diary.executions().map(({ jobId }) => jobId);
    expect(ids.filter((id) => executed.filter((each) => each === id).length !== 1)).toEqual([]);
    const another = await pollUntil(() => createEndpoint('afterwards').catch(() => undefined), {
      what: 'an endpoint made after the outage',
      deadlineMs: CALL_MS,
      intervalMs: 500,
    });
    expect((await runSync(another)).status).toBe('COMPLETED');
    expect((await runSync(endpointId)).status).toBe('COMPLETED');
  },
  SUITE_MS,
);

test(
  'a broker that is killed and comes back leaves no idle worker waiting for an answer that cannot come',
  async () => {
    const endpointId = await createEndpoint('idle');
    expect((await runSync(endpointId)).status).toBe('COMPLETED');
    let givenBack = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = changesOf('disconnect');
      process.kill(stack.pidOf('nats-server'), 'SIGKILL');
      // Given away before anybody knows, it may be for a worker that cannot hear it: then it is given back, at no charge.
      const sentAtOnce = doneAfterwards(endpointId);
      await untilBrokerIsAway(before);
      const job = await doneAfterwards(endpointId);
      expect(await historyOf(endpointId, job.id)).toHaveLength(1);
      const { id, retries } = await sentAtOnce;
      expect(retries ?? 0).toBe(0);
      givenBack += (await historyOf(endpointId, id)).length - 1;
      await untilBrokerIsBack();
    }
    expect(givenBack).toBeLessThanOrEqual(ROUNDS);
    const { body } = await client.job('GET', `/${endpointId}/health`);
    expect(body).toMatchObject({ jobs: { retried: givenBack, inQueue: 0, inProgress: 0 } });
  },
  SUITE_MS,
);
