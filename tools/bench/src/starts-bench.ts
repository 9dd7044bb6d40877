import { join, resolve } from 'node:path';
import { StartedStack, TenantClient } from '@berth/dev-stack';
import { systemClock } from '@berth/lifecycle';
import { NODE_BASE_IMAGE, loadNodeBase, makeTempFolder, pollUntil, startEngine } from '@berth/servers';
import { createEndpoint } from './bench-endpoint.js';
import { median, print } from './figures.js';
import { BareWorker } from './starts/bare-worker.js';

const IMAGE = 'local/node-echo:latest';
const SAMPLE = join(resolve(import.meta.dirname, '../../..'), 'examples/workers/node-echo');
const ROUNDS = 11;
const JOB_MS = 60_000;
const ASK_AGAIN_MS = 50;
const FLAGS = ['--runtime', 'docker', '--demo', 'off', '--rate-limits', 'off'];

interface WorkersBody {
  readonly workers: readonly { readonly reason?: string | null }[];
}

/** What both sides of a part are measured on. */
interface Sides {
  readonly client: TenantClient;
  readonly bare: BareWorker;
}

/** A request that finds its only worker paused, beside `docker unpause` of a like container. */
export const benchFlashboot = (): Promise<void> => withContainers('flashboot', measurePaused);

/** A request that finds no worker, beside `docker run` of the same image until its first job has a result. */
export const benchColdStart = (): Promise<void> => withContainers('cold-start', measureCold);

async function measurePaused({ bare, client }: Sides): Promise<void> {
  const endpointId = await createStarting(client, 'bench-flashboot', 'FLASHBOOT');
  await runJob(client, endpointId);
  await bare.run();
  const times = { ours: [] as number[], bare: [] as number[], socket: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    await bare.pause();
    times.bare.push(await timed(() => bare.unpause()));
    await bare.pause();
    times.socket.push(await timed(() => bare.unpauseOverSocket()));
    await untilWorkers(client, endpointId, ([worker]) => worker?.reason === 'paused (flashboot)');
    times.ours.push(await timed(() => runJob(client, endpointId)));
  }
  await bare.remove();
  tell('paused worker, request to result', times.ours, { name: '`docker unpause`', times: times.bare });
  tell('paused worker, request to result', times.ours, { name: 'unpause over the socket', times: times.socket });
}

async function measureCold({ bare, client }: Sides): Promise<void> {
  const endpointId = await createStarting(client, 'bench-cold', 'OFF');
  await runJob(client, endpointId);
  await bare.openNetwork();
  const times = { ours: [] as number[], bare: [] as number[], confined: [] as number[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    await untilWorkers(client, endpointId, (workers) => workers.length === 0);
    times.bare.push(await timed(() => bare.run()));
    await bare.remove();
    times.confined.push(await timed(() => bare.runConfined()));
    await bare.remove();
    times.ours.push(await timed(() => runJob(client, endpointId)));
  }
  tell('cold start, request to result', times.ours, { name: '`docker run` to its first result', times: times.bare });
  tell('cold start, request to result', times.ours, {
    name: 'the same, confined as a worker is',
    times: times.confined,
  });
  tell('`docker run`, confined', times.confined, { name: '`docker run`', times: times.bare });
}

async function withContainers(name: string, measure: (sides: Sides) => Promise<void>): Promise<void> {
  print(`${name}: starting a container engine and a stack …`);
  const folder = await makeTempFolder('berth-bench-engine-');
  const engine = await startEngine({ folder: folder.path });
  try {
    await engine.loadBaseImage();
    await loadNodeBase(engine);
    await engine.buildImage(IMAGE, SAMPLE, { BASE: NODE_BASE_IMAGE });
    const bare = new BareWorker(engine, IMAGE);
    await bare.open();
    const stack = await StartedStack.start([...FLAGS, '--docker-socket', engine.socketPath]);
    try {
      await measure({ bare, client: new TenantClient(() => stack.dev, JOB_MS) });
    } finally {
      await stack.stop();
      await stack.remove();
      await bare.close();
    }
  } finally {
    await engine.stop();
    await folder.remove();
  }
}

const createStarting = (client: TenantClient, name: string, flashboot: string): Promise<string> =>
  createEndpoint(client, name, {
    ...{ image: IMAGE, workers: { min: 0, max: 1, idleTimeout: 1 }, flashboot },
    // The other scaling has no idle timeout: each round would wait ten seconds for the worker to rest.
    scaling: { type: 'QUEUE_DELAY', queueDelay: 1 },
  });

async function runJob(client: TenantClient, endpointId: string): Promise<void> {
  const input = { message: 'ahoy' };
  const { body } = await client.job<{ readonly status: string }>('POST', `/${endpointId}/runsync`, { input });
  if (body.status !== 'COMPLETED') throw new Error(`a job ended ${body.status}`);
}

async function untilWorkers(
  client: TenantClient,
  endpointId: string,
  isWanted: (workers: WorkersBody['workers']) => boolean,
): Promise<void> {
  const look = async (): Promise<true | undefined> => {
    const { body } = await client.manage<WorkersBody>('GET', `/v2/serverless/${endpointId}/workers`);
    return isWanted(body.workers) ? true : undefined;
  };
  await pollUntil(look, { what: 'the worker to rest', deadlineMs: JOB_MS, intervalMs: ASK_AGAIN_MS });
}

async function timed(act: () => Promise<void>): Promise<number> {
  const beganAtMs = systemClock.monotonicMs();
  await act();
  return systemClock.monotonicMs() - beganAtMs;
}

/** The difference is the median of what each round says by itself. */
function tell(
  what: string,
  ours: readonly number[],
  { name, times }: { readonly name: string; readonly times: readonly number[] },
): void {
  const more = median(ours.map((each, round) => each - (times[round] ?? Number.NaN)));
  const [mine, theirs] = [ours, times].map((each) => median(each).toFixed(1));
  print(`${what}: ${mine} ms; ${name}: ${theirs} ms; ${more.toFixed(1)} ms more (${ours.length} rounds)`);
}
