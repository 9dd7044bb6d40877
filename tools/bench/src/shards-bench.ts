import type { EndpointId, HostId, JobId, RawJson, WorkerId } from '@berth/domain';
import { finishAttempt, newJobId, storeJob, submitJob, takeTicket, type JobStore } from '@berth/jobs';
import { systemClock, systemRandom } from '@berth/lifecycle';
import { ensureTopology, jobShard, type Broker } from '@berth/messaging';
import { makeTempFolder, startNatsServer } from '@berth/servers';
import { jetstream } from '@nats-io/jetstream';
import { median, medianRatio, newProgress, print } from './figures.js';
import { openBroker, openJobStore } from './job-store.js';
import { submissionTo } from './submission.js';

const SHARDS = [1, 4, 16] as const;
const ROUNDS = 5;
/** Jobs under way at one time, each at an endpoint of its own. */
const LANES = 64;
const JOBS_PER_LANE = 16;
/** Records of one job that are synced: submitted, taken, ended. */
const SYNCED_WRITES = 3;
const MESSAGE = JSON.stringify({ message: 'x'.repeat(400) }) as RawJson;
const HOLDER = { hostId: 'host' as HostId, workerId: 'worker' as WorkerId };
const SIZE = { replicas: 1, storageBytes: 4 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 } as const;

const lanes = Array.from({ length: LANES }, (_, lane) => `lane${lane}` as EndpointId);

/**
 * Jobs from submit to end with their records in 1, 4 and 16 streams, without HTTP, agents and workers: what the broker's
 * syncing allows. Beside each, as many bare synced publishes to as many streams.
 */
export async function benchShards(): Promise<void> {
  const folder = await makeTempFolder('berth-bench-shards-');
  const server = await startNatsServer({ storeDir: folder.path });
  const broker = await openBroker(server.url);
  try {
    await ensureTopology({ broker, part: 'jobs', size: SIZE, clock: systemClock, random: systemRandom });
    await measure(broker);
  } finally {
    await broker.connection.close();
    await server.stop();
    await folder.remove();
  }
}

async function measure(broker: Broker): Promise<void> {
  const store = openJobStore(broker);
  const bare = await openBareStreams(broker, await recordText(store));
  const results = SHARDS.map((shards) => ({ shards, ours: [] as number[], bare: [] as number[] }));
  const progress = newProgress();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const each of results) {
      const barePerSecond = await perSecond((_, lane) => bare(lane % each.shards));
      const oursPerSecond = await perSecond((endpointId) => runOne(store, endpointId, each.shards));
      // The first round warms up.
      if (round === 0) continue;
      each.bare.push(barePerSecond);
      each.ours.push(oursPerSecond);
      progress(`records in ${streams(each.shards)}: round ${round} of ${ROUNDS}`);
    }
  }
  const [first] = results;
  for (const { shards, ours, bare: publishes } of results) {
    print(
      `jobs from submit to end, records in ${streams(shards)}: ${median(ours).toFixed(0)}/s; ${SYNCED_WRITES} bare synced ` +
        `publishes each: ${median(publishes).toFixed(0)}/s; ratio ${medianRatio(ours, publishes)}; against one stream ` +
        `${medianRatio(ours, first?.ours ?? [])} times, bare ${medianRatio(publishes, first?.bare ?? [])} times`,
    );
  }
}

async function perSecond(one: (endpointId: EndpointId, lane: number) => Promise<void>): Promise<number> {
  const startedAtMs = systemClock.monotonicMs();
  await Promise.all(
    lanes.map(async (endpointId, lane) => {
      for (let job = 0; job < JOBS_PER_LANE; job += 1) await one(endpointId, lane);
    }),
  );
  return (LANES * JOBS_PER_LANE * 1_000) / (systemClock.monotonicMs() - startedAtMs);
}

/** What a router asks of the broker for one job: for its caller, for the worker that takes it, and for its result. */
async function runOne(store: JobStore, endpointId: EndpointId, shards: number): Promise<void> {
  await submitJob(store, idWithin(store, shards), submissionTo(endpointId, MESSAGE));
  const [queued] = await store.tickets.list({ endpointId, isLowPriority: false, afterSequence: 0, limit: 1 });
  if (queued === undefined) throw new Error(`${endpointId}: there is no ticket`);
  const taken = await takeTicket(store, queued.ticket, HOLDER);
  if (taken.kind !== 'taken') throw new Error(`${endpointId}: the ticket is ${taken.kind}`);
  const report = { ...queued.ticket, token: taken.job.current?.token ?? '' };
  const output = { kind: 'inline', json: MESSAGE } as const;
  const [outcome] = await Promise.all([
    finishAttempt(store, report, { kind: 'completed', output, chunks: 0 }),
    store.tickets.remove(queued),
  ]);
  if (outcome !== 'recorded') throw new Error(`${endpointId}: the result was ${outcome}`);
}

function idWithin(store: JobStore, shards: number): JobId {
  for (;;) {
    const id = newJobId(store, 'run');
    if (jobShard(id) < shards) return id;
  }
}

const streams = (shards: number): string => (shards === 1 ? 'one stream' : `${shards} streams`);

/** A message as long as a record is when its job begins. */
async function recordText(store: JobStore): Promise<string> {
  const job = await storeJob(store, newJobId(store, 'run'), submissionTo('sample' as EndpointId, MESSAGE));
  return JSON.stringify(job);
}

/** Publishes as often to one of the streams as a job writes its record. */
async function openBareStreams(broker: Broker, text: string): Promise<(stream: number) => Promise<void>> {
  for (let stream = 0; stream < Math.max(...SHARDS); stream += 1) {
    await broker.manager.streams.add({ name: `BARE_${stream}`, subjects: [`bare.${stream}`] });
  }
  const publisher = jetstream(broker.connection);
  return async (stream) => {
    for (let write = 0; write < SYNCED_WRITES; write += 1) await publisher.publish(`bare.${stream}`, text);
  };
}
