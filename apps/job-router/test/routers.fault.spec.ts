import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { RouterBench, type Scene } from './bench/router-bench.js';
import { completed, type ScriptedAgent } from './bench/scripted-agent.js';

const bench = new RouterBench();

/** Counts what each worker ran, so that a job that ran twice is seen. */
const countRuns = (agent: ScriptedAgent, slots = 4): Map<string, number> => {
  const runs = new Map<string, number>();
  agent.serve(async (job) => {
    runs.set(job.jobId, (runs.get(job.jobId) ?? 0) + 1);
    return completed(job.jobId);
  }, slots);
  return runs;
};

const expectAllDone = (scene: Scene, ids: readonly string[]): Promise<void> =>
  eventually(
    async () => {
      const answers = await Promise.all(ids.map((id) => scene.client.status(id)));
      expect(answers.map(({ body }) => `${body.status} ${body.output}`)).toEqual(ids.map((id) => `COMPLETED ${id}`));
    },
    { deadlineMs: 90_000, intervalMs: 100 },
  );

describe('a broker that is killed and comes back', () => {
  test('loses no accepted job, and the router goes on by itself', async () => {
    const scene = await bench.scene();
    const before = await Promise.all(Array.from({ length: 30 }, (_, n) => scene.client.run({ n })));
    const held = await scene.agent.takeOne();
    await bench.nats.restart('kill');
    const runs = countRuns(scene.agent);
    const after: string[] = [];
    await eventually(
      async () => {
        after.push(await scene.client.run({}));
      },
      { deadlineMs: 90_000, intervalMs: 250 },
    );
    expect(await scene.agent.complete(held, held.jobId)).toEqual({ outcome: 'recorded' });
    await expectAllDone(scene, [...before, ...after]);

    expect(runs.has(held.jobId)).toBe(false);
    expect(runs.size).toBe(before.length - 1 + after.length);
  });
});

describe('two routers at once', () => {
  test('share the work: each job runs once, wherever it was submitted and is read', async () => {
    const second = await bench.startRouter();
    const scene = await bench.scene();
    const far = bench.client(scene.endpointId, scene.tenant, second);
    const clients = [scene.client, far];
    const runs = countRuns(scene.agent);
    const ids = await Promise.all(Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? scene.client : far).run({ n })));
    await expectAllDone(scene, ids);

    expect([...runs.values()]).toEqual(ids.map(() => 1));
    const sync = await far.post('/runsync', { input: {} });
    expect(sync.body.status).toBe('COMPLETED');
    for (const client of clients) {
      await eventually(async () => {
        expect((await client.call('/health')).body.jobs).toMatchObject({ completed: 101, inQueue: 0, inProgress: 0 });
      });
    }
    await second.stop();
  });

  test('one that restarts mid-way loses nothing, and its counters are the same afterwards', async () => {
    const second = await bench.startRouter();
    const scene = await bench.scene();
    const client = bench.client(scene.endpointId, scene.tenant, second);
    const runs = countRuns(scene.agent);
    const ids = await Promise.all(Array.from({ length: 60 }, (_, n) => client.run({ n })));
    await second.stop();
    const third = await bench.startRouter();
    const again = bench.client(scene.endpointId, scene.tenant, third);
    const more = await Promise.all(Array.from({ length: 20 }, (_, n) => again.run({ n })));
    await expectAllDone(scene, [...ids, ...more]);

    expect(runs.size).toBe(80);
    await eventually(async () => {
      expect((await again.call('/health')).body.jobs).toMatchObject({ completed: 80, inQueue: 0, inProgress: 0 });
    });
    await third.stop();
  });

  test('one that dies in the middle loses no accepted job, and its held callers find theirs by id', async () => {
    const second = await bench.startRouter();
    const scene = await bench.scene();
    const doomed = bench.client(scene.endpointId, scene.tenant, second);
    const ids: string[] = [];
    const submits = Array.from({ length: 80 }, (_, n) =>
      doomed
        .run({ n })
        .then((id) => ids.push(id))
        .catch(() => 'not accepted'),
    );
    await eventually(() => {
      expect(ids.length).toBeGreaterThan(20);
    });
    second.crash();
    const runs = countRuns(scene.agent);
    await expectAllDone(scene, [...ids]);
    await second.stop();
    await Promise.all(submits);
    await expectAllDone(scene, ids);
    expect([...runs.keys()]).toEqual(expect.arrayContaining(ids));
  });
});
