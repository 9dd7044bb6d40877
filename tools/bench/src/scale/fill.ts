import { freemem, tmpdir } from 'node:os';
import { statfs } from 'node:fs/promises';
import { TenantClient, type StartedStack } from '@berth/dev-stack';
import { inParallel, systemClock } from '@berth/lifecycle';
import { createEndpoint } from '../bench-endpoint.js';
import type { ScaleConfig } from '../config.js';
import { newProgress, print } from '../figures.js';

const ENDPOINTS_MAX = 10_000;
const CREATES_AT_ONCE = 8;
const REQUESTS_AT_ONCE = 16;
/** Of one endpoint, in one request. */
const BATCH = 100;
const REQUEST_TIMEOUT_MS = 60_000;
const INPUT = { message: 'x'.repeat(100) };

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

/** Endpoints as a tenant makes them, and jobs that wait there, as a tenant posts them. Returns the endpoints. */
export async function fill(stack: StartedStack, { endpoints, liveJobs }: ScaleConfig): Promise<readonly string[]> {
  const client = new TenantClient(() => stack.dev, REQUEST_TIMEOUT_MS);
  await allowEndpoints(client);
  const endpointIds = await createEndpoints(client, endpoints);
  const body = { requests: Array.from({ length: BATCH }, () => ({ input: INPUT })) };
  const batches = Math.ceil(liveJobs / BATCH);
  await many(`${batches} times ${BATCH} jobs`, { count: batches, atOnce: REQUESTS_AT_ONCE }, async (order) => {
    const path = `/${endpointIds[order % endpointIds.length] ?? ''}/run-batch`;
    const { status } = await client.job('POST', path, body);
    if (status !== 200) throw new Error(`${path} answered ${status}`);
  });
  return endpointIds;
}

/** As many as an account may have at most. */
export async function allowEndpoints(client: TenantClient): Promise<void> {
  const { body } = await client.manage<{ accounts: readonly { id: string }[] }>('GET', '/v2/accounts');
  const path = `/v2/accounts/${body.accounts[0]?.id ?? ''}`;
  const { status } = await client.manage('PATCH', path, { limits: { endpoints: ENDPOINTS_MAX } });
  if (status !== 200) throw new Error(`PATCH ${path} answered ${status}`);
}

async function createEndpoints(client: TenantClient, count: number): Promise<readonly string[]> {
  const ids: string[] = [];
  await many(`${count} endpoints`, { count, atOnce: CREATES_AT_ONCE }, async (order) => {
    ids.push(await createEndpoint(client, `scale-${order}`, { workers: { min: 0, max: 0 } }));
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
