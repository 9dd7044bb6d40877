import type { TakenJob } from '@berth/contracts';
import { toRawJson } from '@berth/domain';
import { eventually } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { RouterBench } from './bench/router-bench.js';
import { refOf, type ScriptedAgent } from './bench/scripted-agent.js';

const bench = new RouterBench();
const chunk = (value: unknown) => toRawJson(JSON.stringify({ output: value }));

/** The second chunk. A question that went to whoever has just died is lost, so it is repeated, as agents do. */
const chunkAgain = (agent: ScriptedAgent, job: TakenJob, value: unknown): Promise<void> =>
  eventually(
    async () => {
      await agent.ask('chunk', { ...refOf(job), index: 1, body: chunk(value) }, 1_000);
    },
    { deadlineMs: 90_000 },
  );
const path = (id: string) => `/stream/${id}?format=object&wait=1000`;

describe('a reader without a cursor behind two routers', () => {
  test('sees each chunk once, whichever router answers', async () => {
    const second = await bench.startRouter();
    const { agent, client, endpointId, tenant } = await bench.scene();
    const far = bench.client(endpointId, tenant, second);
    const id = await client.run({});
    const job = await agent.takeOne();
    const count = 60;
    const writing = (async () => {
      for (let index = 0; index < count; index += 1) await agent.chunk(job, index, chunk(index));
      await agent.done(job, { kind: 'completed', output: null }, count);
    })();
    const seen: number[] = [];
    let status = '';
    for (let round = 0; status !== 'COMPLETED'; round += 1) {
      // No pause between the reads: the next one is sent in the moment in which the answer is whole.
      const { body } = await [client, far][round % 2]!.call(path(id));
      status = body.status as string;
      seen.push(...(body.stream as { output: number }[]).map(({ output }) => output));
    }
    await writing;
    expect(seen).toEqual(Array.from({ length: count }, (_, n) => n));
    expect((await far.call(path(id))).body).toEqual({ status: 'COMPLETED', stream: [] });
    await second.stop();
  });

  test('goes on where it stood when its router has died', async () => {
    const second = await bench.startRouter();
    const { agent, client, endpointId, tenant } = await bench.scene();
    const doomed = bench.client(endpointId, tenant, second);
    const id = await client.run({});
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk('a'));
    expect((await doomed.call(path(id))).body.stream).toHaveLength(1);
    second.crash();
    await chunkAgain(agent, job, 'b');
    expect((await client.call(path(id))).body.stream).toEqual([{ output: 'b', metrics: {} }]);
    await second.stop();
  });

  test('a broker that restarts forgets no place that its router remembers', async () => {
    const { agent, client } = await bench.scene();
    const id = await client.run({});
    const job = await agent.takeOne();
    await agent.chunk(job, 0, chunk('a'));
    expect((await client.call(path(id))).body.stream).toHaveLength(1);
    await bench.nats.restart('kill');
    await chunkAgain(agent, job, 'b');
    expect((await client.call(path(id))).body.stream).toEqual([{ output: 'b', metrics: {} }]);
  });
});
