import { TenantClient, StartedStack } from '@berth/dev-stack';
import { inParallel, systemClock } from '@berth/lifecycle';
import { pollUntil } from '@berth/servers';
import { request } from 'undici';
import { createEndpoint, headersOf } from './bench-endpoint.js';
import { readScaleConfig } from './config.js';
import { newProgress, percentiles, print } from './figures.js';
import { startReference } from './reference.js';
import { fill, requireRoom } from './scale/fill.js';
import { printProbes, probe, type ProbedJob } from './scale/probe.js';
import { mainThreadOf, readMetric } from './scale/vitals.js';

const SEEN_WITHIN_MS = 300_000;
const RESTART_WITHIN_MS = 600_000;
const LOOK_MS = 100;
const LOOK_TIMEOUT_MS = 30_000;
const ASKED_AT_ONCE = 8;
const ASKED_WITHIN_MS = 1_000;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(100) } });

/** The same stack empty and full of waiting jobs, and how long it then takes to come back after a crash. */
export async function benchScale(): Promise<void> {
  const config = readScaleConfig();
  await requireRoom(config);
  print(`  scale: ${config.liveJobs} jobs at ${config.endpoints} endpoints; another stack is started …`);
  const stack = await StartedStack.start(['--runtime', 'process', '--demo', 'off', '--rate-limits', 'off']);
  const reference = await startReference('job-reference.js');
  try {
    const job = await firstJob(stack);
    print('  looking at the empty stack for a minute …');
    const empty = await probe(stack, reference, job);
    const endpointIds = await fill(stack, config);
    await untilSeen(stack, config.liveJobs);
    print('  looking at the full stack for a minute …');
    const full = await probe(stack, reference, job);
    print(`with ${config.liveJobs} jobs waiting at ${config.endpoints} endpoints, and without:`);
    printProbes(empty, full);
    for (const name of ['job-router', 'nats-server'] as const) {
      await crash(stack, name, job);
      await askEach(stack, endpointIds, config.liveJobs);
    }
  } finally {
    await reference.stop();
    await stack.stop();
    await stack.remove();
  }
}

async function firstJob(stack: StartedStack): Promise<ProbedJob> {
  const client = new TenantClient(() => stack.dev);
  const endpointId = await createEndpoint(client, 'bench-scale', { workers: { min: 0, max: 0 } });
  const { body } = await client.job<{ id: string }>('POST', `/${endpointId}/run`, JSON.parse(BODY));
  return { endpointId, jobId: body.id };
}

/** Until the router knows of every job that waits. */
async function untilSeen(stack: StartedStack, jobs: number): Promise<void> {
  const startedAtMs = systemClock.monotonicMs();
  const progress = newProgress();
  const look = async (): Promise<true | undefined> => {
    const seen = await readMetric(stack, 'job-router', 'berth_router_endpoint_jobs_waiting');
    progress(`the router has seen ${seen ?? 0} jobs`);
    return seen !== null && seen >= jobs ? true : undefined;
  };
  await pollUntil(look, { what: 'the router to see all jobs', deadlineMs: SEEN_WITHIN_MS, intervalMs: LOOK_MS });
  print(`  the router knew all jobs ${secondsSince(startedAtMs)} after the last was written`);
}

/** The launcher starts it again; then the router reads what there is. */
async function crash(
  stack: StartedStack,
  name: 'job-router' | 'nats-server',
  { endpointId }: ProbedJob,
): Promise<void> {
  const { apiKey, operations, runUrl } = stack.dev;
  process.kill(stack.pidOf(name), 'SIGKILL');
  const startedAtMs = systemClock.monotonicMs();
  const accepted = await untilAnswered(startedAtMs, {
    what: 'POST /run',
    url: `${runUrl}/v2/${endpointId}/run`,
    method: 'POST',
    headers: headersOf(apiKey),
    body: BODY,
  });
  const isReady = { what: 'GET /readyz', url: `${operations['job-router'] ?? ''}/readyz` };
  const ready = await untilAnswered(startedAtMs, isReady);
  const ran = stack.dev.operations[name] === undefined ? '' : `; ${await mainThreadOf(stack.pidOf(name))}`;
  print(`after a crash of ${name}: jobs are accepted after ${accepted}, all are known after ${ready}${ran}`);
}

/**
 * Asks each endpoint how its jobs are until it answers, a few at a time: the first to ask has its log opened.
 *
 * @throws Error when jobs are missing
 */
async function askEach(stack: StartedStack, endpointIds: readonly string[], jobs: number): Promise<void> {
  const client = new TenantClient(() => stack.dev, LOOK_TIMEOUT_MS);
  const progress = newProgress();
  let [answered, refused, waiting] = [0, 0, 0];
  const latenciesMs = await inParallel(endpointIds, ASKED_AT_ONCE, async (endpointId) => {
    const what = `/health of ${endpointId}`;
    const askedAtMs = systemClock.monotonicMs();
    const look = async (): Promise<number | undefined> => {
      const { body, status } = await client.job<{ jobs: { inQueue: number } }>('GET', `/${endpointId}/health`);
      if (status === 200) return body.jobs.inQueue;
      refused += 1;
      return undefined;
    };
    const found = await pollUntil(look, { what, deadlineMs: RESTART_WITHIN_MS, intervalMs: LOOK_MS });
    waiting += found;
    answered += 1;
    progress(`${answered} endpoints have answered`);
    return systemClock.monotonicMs() - askedAtMs;
  });
  if (waiting !== jobs) throw new Error(`${waiting} of ${jobs} jobs wait`);
  const ascending = latenciesMs.toSorted((a, b) => a - b);
  const late = ascending.filter((ms) => ms > ASKED_WITHIN_MS).length;
  print(
    `  each endpoint asked, ${ASKED_AT_ONCE} at a time: ${percentiles(ascending)}, most ${ascending.at(-1)?.toFixed(0)} ms, ` +
      `${late} of ${ascending.length} answered after more than ${ASKED_WITHIN_MS} ms, ${refused} refusals`,
  );
}

interface Question {
  readonly what: string;
  readonly url: string;
  readonly method?: 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

async function untilAnswered(startedAtMs: number, { what, url, ...options }: Question): Promise<string> {
  const progress = newProgress();
  const look = async (): Promise<true | undefined> => {
    progress(`waiting for an answer to ${what} after a crash`);
    try {
      const { body, statusCode } = await request(url, { ...options, headersTimeout: LOOK_TIMEOUT_MS });
      await body.dump();
      return statusCode === 200 ? true : undefined;
    } catch {
      // Refused or silent: it is not there yet, which is what is being waited for.
      return undefined;
    }
  };
  await pollUntil(look, { what, deadlineMs: RESTART_WITHIN_MS, intervalMs: LOOK_MS });
  return secondsSince(startedAtMs);
}

const secondsSince = (startedAtMs: number): string =>
  `${((systemClock.monotonicMs() - startedAtMs) / 1_000).toFixed(1)} s`;
