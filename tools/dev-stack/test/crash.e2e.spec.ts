import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@berth/lifecycle';
import { pollUntil } from '@berth/servers';
import {
  SeededRandom,
  checkHistory,
  type ClientEntry,
  type Execution,
  type StatusRead,
  type WorkerOutput,
} from '@berth/testing';
import { TenantClient } from '../src/tenant-client.js';
import { readCrashConfig } from './config.js';
import { Diary } from './stack/diary.js';
import { injectFaults, planFaults, type FrozenSpan } from './stack/faults.js';
import { StartedStack } from '../src/started-stack.js';

const { seed: SEED, rounds: ROUNDS } = readCrashConfig();
const JOBS = 200;
const WORKERS = 4;
const SLEEP_MAX_MS = 4_000;
const REST_DEADLINE_MS = 180_000;
const SUITE_MS = 600_000;
const IMAGES = resolve(import.meta.dirname, 'workers');
/** After a freeze the host needs this long to learn which of its jobs were given away. */
const THAW_MS = 10_000;

interface JobBody {
  readonly id: string;
  readonly status: string;
  readonly output?: WorkerOutput;
  readonly retries?: number;
}

/** One tenant's jobs: submitted for as long as it takes to have them all accepted, then followed to their end. */
class Tenant {
  readonly #client: TenantClient;
  readonly #endpointId: string;
  readonly #entries = new Map<string, { readonly input: string; readonly reads: StatusRead[] }>();

  constructor(client: TenantClient, endpointId: string) {
    this.#client = client;
    this.#endpointId = endpointId;
  }

  get entries(): readonly ClientEntry[] {
    return [...this.#entries].map(([jobId, entry]) => ({ jobId, ...entry }));
  }

  get accepted(): number {
    return this.#entries.size;
  }

  /** Unknown outcomes are nobody's promise: such a job may exist, and is not counted. */
  async submit(random: SeededRandom): Promise<void> {
    const input = { echo: random.uuid(), sleepMs: random.integer(0, SLEEP_MAX_MS) };
    try {
      const { body, status } = await this.#client.job<JobBody>('POST', `/${this.#endpointId}/run`, { input });
      if (status === 200) this.#entries.set(body.id, { input: input.echo, reads: [] });
    } catch {
      await systemClock.sleep(500);
    }
  }

  /** Reads every job once; true when all have ended. */
  async readAll(): Promise<boolean> {
    let hasEnded = true;
    for (const [jobId, { reads }] of this.#entries) {
      const read = await this.#read(jobId);
      if (read !== null) reads.push(read);
      if (read === null || read.status === 'IN_QUEUE' || read.status === 'IN_PROGRESS') hasEnded = false;
    }
    return hasEnded;
  }

  async #read(jobId: string): Promise<StatusRead | null> {
    try {
      const { body, status } = await this.#client.job<JobBody>('GET', `/${this.#endpointId}/status/${jobId}`);
      if (status !== 200 && status !== 404) return null;
      return {
        atMs: systemClock.nowMs(),
        status: status === 404 ? null : body.status,
        output: body.output ?? null,
        retries: body.retries ?? 0,
      };
    } catch {
      // The router is being restarted: this read taught nothing.
      return null;
    }
  }
}

const ranWhileFrozen = (execution: Execution, spans: readonly FrozenSpan[]): boolean =>
  spans.some(
    ({ fromMs, target, untilMs }) =>
      target === 'worker-agent' &&
      execution.startedAtMs < untilMs + THAW_MS &&
      (execution.givenAtMs ?? Number.POSITIVE_INFINITY) > fromMs,
  );

describe(`200 jobs while every process is killed and two are frozen, seed ${SEED} (BERTH_CRASH_SEED)`, () => {
  let stack: StartedStack;

  beforeAll(async () => {
    process.stderr.write(`crash suite: BERTH_CRASH_SEED=${SEED} BERTH_CRASH_ROUNDS=${ROUNDS}\n`);
    stack = await StartedStack.start(['--runtime', 'process', '--images', IMAGES, '--demo', 'off']);
  }, SUITE_MS);

  afterAll(async () => {
    await stack.stop();
    await stack.remove();
  }, SUITE_MS);

  test(
    'loses none, ends each once, shows no superseded output, starts none more than three times',
    async () => {
      const random = new SeededRandom(SEED);
      const client = new TenantClient(() => stack.dev);
      const diary = new Diary(join(stack.home, 'diary.jsonl'));
      const tenant = new Tenant(client, await createEndpoint(client, stack));
      const logFile = join(stack.home, 'faults.log');
      const faults = planFaults(random, ROUNDS);
      const [frozen] = await Promise.all([
        injectFaults(faults, { stack, diary, random: new SeededRandom(SEED + 1), logFile }),
        submitAll(tenant, random),
      ]);
      await pollUntil(async () => ((await tenant.readAll()) ? true : undefined), {
        what: 'the end of every job',
        deadlineMs: REST_DEADLINE_MS,
      });
      await tenant.readAll();
      const isExcused = (execution: Execution): boolean => ranWhileFrozen(execution, frozen);
      const broken = checkHistory({ accepted: tenant.entries, executions: diary.executions() }, { isExcused });
      process.stderr.write(`crash suite: ${summaryOf(tenant.entries, diary.executions(), faults.length)}\n`);
      expect(broken).toEqual([]);
      expect(tenant.accepted).toBe(JOBS);
    },
    SUITE_MS,
  );
});

function summaryOf(entries: readonly ClientEntry[], executions: readonly Execution[], faults: number): string {
  const ends = Map.groupBy(entries, ({ reads }) => reads.at(-1)?.status ?? '404');
  const counts = [...ends].map(([status, ended]) => `${ended.length} ${status}`).join(', ');
  const retried = entries.filter(({ reads }) => reads.some(({ retries }) => retries > 0)).length;
  return `${faults} faults, ${entries.length} jobs (${counts}), ${executions.length} executions, ${retried} jobs retried`;
}

async function submitAll(tenant: Tenant, random: SeededRandom): Promise<void> {
  while (tenant.accepted < JOBS) {
    await tenant.submit(random);
    await systemClock.sleep(random.integer(50, 500));
  }
}

async function createEndpoint(client: TenantClient, stack: StartedStack): Promise<string> {
  const { body, status } = await client.manage<{ id: string }>('POST', '/v2/serverless', {
    name: 'diary',
    type: 'QUEUE',
    image: 'local/diary',
    cpu: [{ id: 'cpu3c', vcpuCount: 2 }],
    scaling: { type: 'REQUEST_COUNT', requestCount: 1 },
    workers: { min: 0, max: WORKERS },
    env: { DIARY: join(stack.home, 'diary.jsonl') },
  });
  expect(status).toBe(201);
  return body.id;
}
