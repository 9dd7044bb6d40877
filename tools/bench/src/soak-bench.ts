import { lstat, readdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { MIB } from '@berth/domain';
import { StartedStack, TenantClient } from '@berth/dev-stack';
import { systemClock } from '@berth/lifecycle';
import { createEndpoint, headersOf } from './bench-endpoint.js';
import { readSoakConfig } from './config.js';
import { percentiles, print } from './figures.js';
import { readMetric, readVital } from './scale/vitals.js';
import { SteadyLoad } from './soak/steady-load.js';

const IMAGES = join(resolve(import.meta.dirname, '..'), 'workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off'];
const WORKED_ENDPOINTS = 9;
const TTL_MS = 60_000;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(400) }, policy: { ttl: TTL_MS } });
const MINUTE_MS = 60_000;
const LOOK_MS = 5_000;
/** Until as many jobs go as come, and what runs is compiled. */
const WARM_MINUTES = 5;

const WITH_HEAP = ['job-router', 'worker-agent', 'controllers'] as const;
const WATCHED = [...WITH_HEAP, 'nats-server'] as const;

/** MiB, by what they are of. */
type Sizes = Readonly<Record<string, number>>;

/** A load that the stack carries with ease, for an hour: what grows meanwhile would grow for ever. */
export async function benchSoak(): Promise<void> {
  const { jobsPerSecond, minutes } = readSoakConfig();
  print(`  soak: ${jobsPerSecond} jobs/s for ${minutes} min, none living longer than ${TTL_MS / 1_000} s …`);
  const stack = await StartedStack.start(FLAGS);
  try {
    const ids = await createEndpoints(new TenantClient(() => stack.dev));
    const { apiKey, runUrl } = stack.dev;
    const paths = ids.map((id) => `/v2/${id}/run`);
    const load = new SteadyLoad({
      ...{ origin: runUrl, paths, headers: headersOf(apiKey), body: BODY, perSecond: jobsPerSecond },
    });
    const seen: Sizes[] = [];
    for (let minute = 1; minute <= minutes; minute += 1) {
      const sizes = await sizesOfMinute(stack);
      const { accepted, failed, latenciesMs } = load.take();
      seen.push(sizes);
      print(`minute ${minute}: ${accepted} accepted, ${failed} not, ${percentiles(latenciesMs)}; ${told(sizes)}`);
    }
    await load.stop();
    printSlopes(seen);
  } finally {
    await stack.stop();
    await stack.remove();
  }
}

/** Nobody works at the last of them: what goes there waits until it expires. */
async function createEndpoints(client: TenantClient): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let at = 0; at <= WORKED_ENDPOINTS; at += 1) {
    const workers = at < WORKED_ENDPOINTS ? 1 : 0;
    const more = { image: 'local/echo', workers: { min: workers, max: workers }, env: { ECHO_SLOTS: '8' } };
    ids.push(await createEndpoint(client, `soak-${at}`, more));
  }
  return ids;
}

/** The least that each heap used in any look of a minute: what lives, and little of what is not collected yet. */
async function sizesOfMinute(stack: StartedStack): Promise<Sizes> {
  const untilMs = systemClock.monotonicMs() + MINUTE_MS;
  const heaps = new Map<string, number>();
  while (systemClock.monotonicMs() < untilMs) {
    await systemClock.sleep(Math.min(LOOK_MS, untilMs - systemClock.monotonicMs()));
    for (const name of WITH_HEAP) {
      const bytes = (await readMetric(stack, name, 'berth_nodejs_heap_size_used_bytes')) ?? Number.NaN;
      heaps.set(`${name} heap`, Math.min(heaps.get(`${name} heap`) ?? Infinity, bytes / MIB));
    }
  }
  const resident = await Promise.all(
    WATCHED.map(async (name) => [`${name} resident`, (await readVital(stack, name)).residentMib] as const),
  );
  return { ...Object.fromEntries([...heaps, ...resident]), ...(await storedMib(join(stack.home, 'nats'))) };
}

/** What the broker's files are, by stream; the shards of one kind count together. */
async function storedMib(folder: string): Promise<Sizes> {
  const sizes: Record<string, number> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const kind = /streams\/([^/]+?)(_\d+)?\//.exec(path)?.[1];
    if (kind === undefined) continue;
    // Null: the broker has removed it meanwhile.
    const found = await lstat(path).catch(() => null);
    sizes[`${kind} stored`] = (sizes[`${kind} stored`] ?? 0) + ((found?.blocks ?? 0) * 512) / MIB;
  }
  return sizes;
}

const told = (sizes: Sizes): string =>
  Object.entries(sizes)
    .filter(([, mib]) => mib >= 1)
    .map(([name, mib]) => `${name} ${mib.toFixed(1)}`)
    .join(', ');

/** Of the line that lies nearest to all minutes but the first ones. */
function printSlopes(seen: readonly Sizes[]): void {
  const from = seen.length > 2 * WARM_MINUTES ? WARM_MINUTES : 0;
  const minutes = seen.slice(from).map((sizes, at) => ({ at: from + 1 + at, sizes }));
  print(`slopes from minute ${from + 1} to minute ${seen.length}, MiB an hour:`);
  for (const [name, last] of Object.entries(seen.at(-1) ?? {})) {
    const points = minutes.flatMap(({ at, sizes }) => (sizes[name] === undefined ? [] : [[at, sizes[name]] as const]));
    if (last >= 1) print(`  ${name}: ${(slope(points) * 60).toFixed(1)}, at last ${last.toFixed(1)} MiB`);
  }
}

function slope(points: readonly (readonly [number, number])[]): number {
  const meanOf = (axis: 0 | 1): number => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const [meanX, meanY] = [meanOf(0), meanOf(1)];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return above / points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}
