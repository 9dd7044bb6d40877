import { LIFE_MIN_MS } from '@berth/domain';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { RouterBench, type Scene, type TestRouter } from './bench/router-bench.js';
import { completed } from './bench/scripted-agent.js';

const bench = new RouterBench();

const TIMEOUT_MS = 240_000;
/** Shards are given to those who begin, and by those who end, and the dead ones' are found. */
const OWNERS_CHANGE_MS = 90_000;

const health = async (scene: Scene, router: TestRouter = bench.router): Promise<Record<string, number>> =>
  (await bench.client(scene.endpointId, scene.tenant, router).call('/health')).body.jobs as Record<string, number>;

/** One job that fails, is retried and completes, and then lives for another time. */
async function runOne({ client }: Scene): Promise<string> {
  const id = await client.run({});
  const reach = (status: string): Promise<void> =>
    eventually(
      async () => {
        expect((await client.status(id)).body.status).toBe(status);
      },
      { deadlineMs: OWNERS_CHANGE_MS },
    );
  await reach('FAILED');
  expect((await client.post(`/retry/${id}`, '')).status).toBe(200);
  await reach('COMPLETED');
  await client.call(`/status/${id}?ttl=900000`);
  return id;
}

/** Every job fails at first. */
const failFirst = ({ agent }: Scene): void =>
  agent.serve(async ({ attempt }) =>
    attempt === 1 ? { kind: 'failed', error: 'boom', output: null } : completed('done'),
  );

async function failingScene(): Promise<Scene> {
  const scene = await bench.scene();
  failFirst(scene);
  return scene;
}

const work = (scene: Scene, count: number): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: count }, () => runOne(scene)));

const counted = (jobs: number): object => ({ completed: jobs, failed: jobs, retried: jobs, inQueue: 0, inProgress: 0 });

const expectEverywhere = (scene: Scene, routers: readonly TestRouter[], jobs: number): Promise<void> =>
  eventually(
    async () => {
      for (const router of routers) expect(await health(scene, router)).toMatchObject(counted(jobs));
    },
    { deadlineMs: OWNERS_CHANGE_MS },
  );

/** Nothing but what was counted speaks of these jobs any more. */
async function goneAtOnce({ client }: Scene, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => client.call(`/status/${id}?ttl=${LIFE_MIN_MS}`)));
  await eventually(
    async () => {
      const answers = await Promise.all(ids.map((id) => client.status(id)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    },
    { deadlineMs: OWNERS_CHANGE_MS },
  );
}

describe('the counters of `/health`', () => {
  test(
    'are the same whoever owns the endpoint, also of jobs that are gone',
    async () => {
      const scene = await failingScene();
      const second = await bench.startRouter();
      const ids = await work(scene, 15);
      await expectEverywhere(scene, [bench.router, second], 15);
      await goneAtOnce(scene, ids.slice(5));
      await second.stop();
      const third = await bench.startRouter();
      await expectEverywhere(scene, [bench.router, third], 15);

      // What becomes of jobs that are counted already counts nothing.
      await Promise.all(ids.slice(0, 5).map((id) => scene.client.call(`/status/${id}?ttl=1800000`)));
      await work(scene, 5);
      await expectEverywhere(scene, [bench.router, third], 20);
      await third.stop();
    },
    TIMEOUT_MS,
  );

  test(
    'are the same at a router that begins when another was killed, and all of a broker with it',
    async () => {
      const scene = await failingScene();
      await work(scene, 5);
      const doomed = await bench.startRouter();
      await work(scene, 10);
      // A job that was given to a question through the dead one would be tried once more, and counted so.
      await scene.agent.stop();
      doomed.crash();
      const later = { ...scene, agent: await bench.agent(scene.agent.place) };
      failFirst(later);
      await work(later, 3);
      await bench.nats.restart('kill');
      const third = await bench.startRouter();
      await expectEverywhere(scene, [bench.router, third], 18);
      await Promise.all([doomed.stop(), third.stop()]);
    },
    TIMEOUT_MS,
  );
});
