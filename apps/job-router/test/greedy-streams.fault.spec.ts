import type { TakenJob } from '@berth/contracts';
import { LIFE_MIN_MS, encodeJson, type AccountLimits, type JobId } from '@berth/domain';
import { jobShard } from '@berth/messaging';
import { eventually } from '@berth/testing';
import { jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { expect, test } from '@jest/globals';
import { RouterBench, type Scene } from './bench/router-bench.js';

const MIB = 1024 ** 2;
/** A stream of chunks has 8 MB then: a sixteenth of what it has by the default storage. */
const STORAGE_BYTES = 1024 * MIB;
/** What accounts may have by default, in the same proportion. */
const limits: Partial<AccountLimits> = { chunkBytesPerAttempt: 4 * MIB, chunkBytes: 64 * MIB };

const TEST_MS = 240_000;
const ATTACKING_JOBS = 5;
const SUBMITS_MAX = 400;
const CHUNKS = 12;

const bench = new RouterBench({ environment: { BERTH_NATS_STORAGE_BYTES: String(STORAGE_BYTES) } });

const chunkOf = (text: string) => encodeJson({ output: text });
const shardOf = (id: string): number => jobShard(id as JobId);

/** Jobs whose chunks lie where the victim's do: an id is known before anything is streamed. */
async function takeBeside({ agent, client }: Scene, shard: number, count: number): Promise<readonly TakenJob[]> {
  const beside: TakenJob[] = [];
  for (let n = 0; beside.length < count && n < SUBMITS_MAX; n += 1) {
    await client.run({ n });
    const job = await agent.takeOne();
    if (shardOf(job.jobId) === shard) beside.push(job);
    else await agent.complete(job, null);
  }
  return beside;
}

/** Streams until it is told that the job is over; returns how many chunks were taken. */
async function streamAll({ agent }: Scene, job: TakenJob): Promise<number> {
  for (let index = 0; ; index += 1) {
    const { outcome } = await agent.chunk(job, index, chunkOf('x'.repeat(MIB / 4)));
    if (outcome === 'superseded') return index;
  }
}

const bytesIn = async (manager: JetStreamManager, shard: number): Promise<number> =>
  (await manager.streams.info(`OUT_${shard}`)).state.bytes;

/** Everything that the reader has not read yet. */
async function readAll({ client }: Scene, id: string, count: number): Promise<readonly string[]> {
  const read: string[] = [];
  await eventually(async () => {
    const { body } = await client.call(`/stream/${id}?format=array&wait=1000`);
    read.push(...(body as readonly { readonly output: string }[]).map(({ output }) => output));
    expect(read.length).toBeGreaterThanOrEqual(count);
  });
  return read;
}

test(
  'who streams all it can is refused with a bound, another tenant’s stream beside it is whole, and the room comes back',
  async () => {
    const [greedy, victim] = [await bench.scene({ limits }), await bench.scene({ limits })];
    const id = await victim.client.run({});
    const job = await victim.agent.takeOne();
    const shard = shardOf(id);
    const texts = Array.from({ length: CHUNKS }, (_, n) => String.fromCharCode(97 + n).repeat(50_000));
    const stream = async (from: number, to: number): Promise<void> => {
      for (let index = from; index < to; index += 1) {
        expect(await victim.agent.chunk(job, index, chunkOf(texts[index] ?? ''))).toEqual({ outcome: 'recorded' });
      }
    };
    await stream(0, 1);
    const attacking = await takeBeside(greedy, shard, ATTACKING_JOBS);
    for (const each of attacking) await streamAll(greedy, each);

    await stream(1, CHUNKS);
    const result = { kind: 'completed', output: { kind: 'inline', json: encodeJson('done') } } as const;
    expect(await victim.agent.done(job, result, CHUNKS)).toEqual({ outcome: 'recorded' });
    expect((await victim.client.status(id)).body).toMatchObject({ status: 'COMPLETED', output: 'done' });
    expect(await readAll(victim, id, CHUNKS)).toEqual(texts);
    for (const { jobId } of attacking) {
      const { body } = await greedy.client.status(jobId);
      expect([body.status, body.error]).toEqual(['FAILED', expect.stringMatching(/^the job streamed .* \d+ bytes/)]);
    }

    const manager = await jetstreamManager(await bench.connect(), { timeout: 60_000 });
    expect(await bytesIn(manager, shard)).toBeGreaterThan(2 * MIB);
    for (const { jobId } of attacking) await greedy.client.call(`/status/${jobId}?ttl=${LIFE_MIN_MS}`);
    await eventually(async () => expect(await bytesIn(manager, shard)).toBeLessThan(MIB), { deadlineMs: 90_000 });
    // Owners look every two seconds how much is left.
    await eventually(
      async () => {
        const [next] = await takeBeside(greedy, shard, 1);
        if (next === undefined) throw new Error('none of many jobs lies there');
        const chunks = await streamAll(greedy, next);
        await greedy.client.call(`/status/${next.jobId}?ttl=${LIFE_MIN_MS}`);
        expect(chunks).toBeGreaterThan(8);
      },
      { deadlineMs: 90_000, intervalMs: 2_000 },
    );
  },
  TEST_MS,
);
