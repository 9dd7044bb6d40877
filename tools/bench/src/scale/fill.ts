import { freemem, tmpdir } from 'node:os';
import { statfs } from 'node:fs/promises';
import { TenantClient, type StartedStack } from '@berth/dev-stack';
import type { EndpointId, RawJson } from '@berth/domain';
import { newJobId, submitJob } from '@berth/jobs';
import { inParallel, systemClock } from '@berth/lifecycle';
import { createEndpoint } from '../bench-endpoint.js';
import type { ScaleConfig } from '../config.js';
import { newProgress, print } from '../figures.js';
import { openJobStore, openStackBroker } from '../job-store.js';
import { submissionTo } from '../submission.js';

const CREATES_AT_ONCE = 8;
const CREATE_TIMEOUT_MS = 60_000;
const SUBMITS_AT_ONCE = 256;
const INPUT = JSON.stringify({ message: 'x'.repeat(100) }) as RawJson;

/** Of all processes together, and of the broker's files, as measured; a stack without jobs comes on top. */
const MEMORY_PER_JOB_BYTES = 8_000;
const DISK_PER_JOB_BYTES = 4_000;
const STACK_BYTES = 3 * 1024 ** 3;

/** @throws Error when this machine is too small: better now than in the middle */
export async function requireRoom({ liveJobs }: ScaleConfig): Promise<void> {
  const disk = await statfs(tmpdir());
  const checks = [
    ['memory', freemem(), MEMORY_PER_JOB_BYTES],
    ['disk', disk.bavail * disk.bsize, DISK_PER_JOB_BYTES],
  ] as const;
  for (const [what, freeBytes, perJobBytes] of checks) {
    const neededBytes = STACK_BYTES + liveJobs * perJobBytes;
    if (freeBytes >= neededBytes) continue;
    const [needed, free] = [neededBytes, freeBytes].map((bytes) => (bytes / 1024 ** 3).toFixed(1));
    throw new Error(
      `${needed} GiB of ${what} are needed and ${free} are free: set BERTH_BENCH_LIVE_JOBS to fewer jobs`,
    );
  }
}

/** Endpoints as a tenant makes them, and jobs that wait there, written by what a router writes them with. */
export async function fill(stack: StartedStack, { endpoints, liveJobs }: ScaleConfig): Promise<void> {
  const endpointIds = await createEndpoints(stack, endpoints);
  const broker = await openStackBroker(stack);
  const store = openJobStore(broker);
  try {
    await many(`${liveJobs} jobs`, { count: liveJobs, atOnce: SUBMITS_AT_ONCE }, async (order) => {
      const endpointId = endpointIds[order % endpointIds.length] as EndpointId;
      await submitJob(store, newJobId(store, 'run'), submissionTo(endpointId, INPUT));
    });
  } finally {
    await broker.connection.close();
  }
}

async function createEndpoints(stack: StartedStack, count: number): Promise<readonly EndpointId[]> {
  const client = new TenantClient(() => stack.dev, CREATE_TIMEOUT_MS);
  const ids: EndpointId[] = [];
  await many(`${count} endpoints`, { count, atOnce: CREATES_AT_ONCE }, async (order) => {
    ids.push((await createEndpoint(client, `scale-${order}`, { workers: { min: 0, max: 0 } })) as EndpointId);
  });
  return ids;
}

async function many(
  what: string,
  { atOnce, count }: { readonly count: number; readonly atOnce: number },
  make: (order: number) => Promise<void>,
): Promise<void> {
  const progress = newProgress();
  const startedAtMs = systemClock.monotonicMs();
  let made = 0;
  const perSecond = (): string => ((made * 1_000) / (systemClock.monotonicMs() - startedAtMs)).toFixed(0);
  await inParallel([...Array(count).keys()], atOnce, async (order) => {
    await make(order);
    made += 1;
    progress(`filling in ${what}: ${made}, ${perSecond()}/s`);
  });
  print(`  filled in ${what} at ${perSecond()}/s`);
}
