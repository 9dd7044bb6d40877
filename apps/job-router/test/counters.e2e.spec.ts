import { LIFE_MIN_MS } from '@berth/domain';
import { eventually } from '@berth/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from '@jest/globals';
import { RouterBench, type Scene, type TestRouter } from './bench/router-bench.js';
import { completed } from './bench/scripted-agent.js';

const bench = new RouterBench();

const TIMEOUT_MS = 60_000;

const health = async (scene: Scene, router: TestRouter = bench.router): Promise<Record<string, number>> =>
  (await bench.client(scene.endpointId, scene.tenant, router).call('/health')).body.jobs as Record<string, number>;

/** One job that fails, is retried and completes, and then lives for another time. */
async function runOne({ client }: Scene): Promise<string> {
  const id = await client.run({});
  const reach = (status: string): Promise<void> =>
    eventually(async () => {
      expect((await client.status(id)).body.status).toBe(status);
    });
  await reach('FAILED');
  expect((await client.post(`/retry/${id}`, '')).status).toBe(200);
  await reach('COMPLETED');
  await client.call(`/status/${id}?ttl=900000`);
  return id;
}

/** Makes a scene in which every job fails at first. */
async function failingScene(): Promise<Scene> {
  const scene = await bench.scene();
  scene.agent.serve(async ({ attempt }) =>
    attempt === 1 ? { kind: 'failed', error: 'boom', output: null } : completed('done'),
  );
  return scene;
}

async function work(scene: Scene, count: number): Promise<readonly string[]> {
  const before = await health(scene);
  const ids = await Promise.all(Array.from({ length: count }, () => runOne(scene)));
  await eventually(async () => {
    expect((await health(scene)).completed).toBe((before.completed ?? 0) + count);
  });
  return ids;
}

const counted = (jobs: number): object => ({ completed: jobs, failed: jobs, retried: jobs, inQueue: 0, inProgress: 0 });

const expectEverywhere = (scene: Scene, routers: readonly TestRouter[], jobs: number): Promise<void> =>
  eventually(async () => {
    for (const router of routers) expect(await health(scene, router)).toMatchObject(counted(jobs));
  });

/** Nothing but the checkpoint speaks of these jobs when the events are gone, too. */
async function goneAtOnce({ client }: Scene, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => client.call(`/status/${id}?ttl=${LIFE_MIN_MS}`)));
  await eventually(
    async () => {
      const answers = await Promise.all(ids.map((id) => client.status(id)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    },
    { deadlineMs: 5 * LIFE_MIN_MS },
  );
}

/** Whatever the broker still has of the events. */
async function dropEvents(): Promise<void> {
  const connection = await bench.nats.connect();
  await (await jetstreamManager(connection)).streams.purge('EV');
}

describe('the counters of `/health`', () => {
  test(
    'are the same at a router that begins when the events were dropped',
    async () => {
      const scene = await failingScene();
      const second = await bench.startRouter();
      const ids = await work(scene, 15);
      await expectEverywhere(scene, [bench.router, second], 15);
      await goneAtOnce(scene, ids.slice(5));
      await second.stop();
      await dropEvents();
      const third = await bench.startRouter();
      await expectEverywhere(scene, [bench.router, third], 15);

      // Other versions of jobs that are counted already.
      await Promise.all(ids.slice(0, 5).map((id) => scene.client.call(`/status/${id}?ttl=1800000`)));
      await work(scene, 5);
      await expectEverywhere(scene, [bench.router, third], 20);
      await third.stop();
    },
    TIMEOUT_MS,
  );

  test(
    'are the same at a router that begins when another was killed between two checkpoints',
    async () => {
      const scene = await failingScene();
      await work(scene, 5);
      const second = await bench.startRouter();
      await second.stop();
      const doomed = await bench.startRouter();
      await work(scene, 10);
      doomed.crash();
      await work(scene, 3);
      const third = await bench.startRouter();
      await expectEverywhere(scene, [bench.router, third], 18);
      await Promise.all([doomed.stop(), third.stop()]);
    },
    TIMEOUT_MS,
  );
});
