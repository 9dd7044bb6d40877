import { join, resolve } from 'node:path';
import { StartedStack, TenantClient } from '@berth/dev-stack';
import { inParallel, systemClock } from '@berth/lifecycle';
import { makeTempFolder, pollUntil } from '@berth/servers';
import { createEndpoint, headersOf } from './bench-endpoint.js';
import { readEndpointsConfig } from './config.js';
import { newProgress, percentiles, print } from './figures.js';
import { processesOf } from './peers/berth.js';
import { processorTimes } from './peers/processor-time.js';
import { allowEndpoints } from './scale/fill.js';
import { RegisteredWorkers } from './scale/registered-workers.js';
import { SteadyLoad } from './soak/steady-load.js';

const IMAGES = join(resolve(import.meta.dirname, '..'), 'workers');
const FLAGS = ['--runtime', 'process', '--images', IMAGES, '--demo', 'off', '--rate-limits', 'off', '--vcpus', '4096'];
const CREATES_AT_ONCE = 8;
const WORKERS_WITHIN_MS = 600_000;
const LOOK_MS = 500;
const WARM_SECONDS = 20;
const MEASURED_SECONDS = 60;
const BODY = JSON.stringify({ input: { message: 'x'.repeat(400) } });

/** One job a second at each of many endpoints, with a worker each: what no two of them share is written for each alone. */
export async function benchEndpoints(): Promise<void> {
  const { endpoints } = readEndpointsConfig();
  print(`  endpoints: one job a second at each of ${endpoints}; a stack is started …`);
  const folder = await makeTempFolder('berth-bench-register-');
  const stack = await StartedStack.start(FLAGS);
  const workers = new RegisteredWorkers(folder.path);
  try {
    const ids = await createEndpoints(stack, endpoints, folder.path);
    const progress = newProgress();
    const isWhole = (): Promise<true | undefined> => {
      progress(`${workers.count} of ${endpoints} workers have begun`);
      return Promise.resolve(workers.count >= endpoints ? true : undefined);
    };
    await pollUntil(isWhole, { what: 'all workers', deadlineMs: WORKERS_WITHIN_MS, intervalMs: LOOK_MS });
    await measure(stack, workers, ids);
  } finally {
    await workers.stop();
    await stack.stop();
    await stack.remove();
    await folder.remove();
  }
}

async function createEndpoints(stack: StartedStack, count: number, folder: string): Promise<readonly string[]> {
  const client = new TenantClient(() => stack.dev);
  await allowEndpoints(client);
  const env = { REGISTER: folder };
  const more = { image: 'local/register', workers: { min: 1, max: 1 }, env };
  return inParallel([...Array(count).keys()], CREATES_AT_ONCE, (at) => createEndpoint(client, `each-${at}`, more));
}

async function measure(stack: StartedStack, workers: RegisteredWorkers, ids: readonly string[]): Promise<void> {
  const { apiKey, runUrl } = stack.dev;
  const paths = ids.map((id) => `/v2/${id}/run`);
  const load = new SteadyLoad({
    ...{ origin: runUrl, paths, headers: headersOf(apiKey), body: BODY, perSecond: ids.length },
  });
  await systemClock.sleep(WARM_SECONDS * 1_000);
  load.take();
  const [endedBefore, failedBefore] = [workers.ended, workers.failed];
  const processes = new Map([...processesOf(stack), ['bench', [process.pid]]]);
  const before = await processorTimes(processes);
  await systemClock.sleep(MEASURED_SECONDS * 1_000);
  const after = await processorTimes(processes);
  const { accepted, failed, latenciesMs } = load.take();
  const ended = workers.ended - endedBefore;
  await load.stop();
  print(
    `one job a second at each of ${ids.length} endpoints: ${rate(accepted)} accepted, ${percentiles(latenciesMs)}, ` +
      `${failed} not; ${rate(ended)} ended, ${workers.failed - failedBefore} calls of workers failed`,
  );
  const cores = [...after].map(
    ([name, ms]) => [name, (ms - (before.get(name) ?? 0)) / 1_000 / MEASURED_SECONDS] as const,
  );
  print(`  cores: ${cores.map(([name, share]) => `${name} ${share.toFixed(2)}`).join(', ')}`);
}

const rate = (count: number): string => `${(count / MEASURED_SECONDS).toFixed(0)}/s`;
