import {
  ENDPOINT_BOUNDS_DEFAULT,
  NOTHING_UNREAD,
  type AttemptProof,
  type CommandOutcome,
  type EndpointCommand,
  type EndpointId,
  type HostId,
  type JobId,
  type RawJson,
  type WorkerId,
} from '@berth/domain';
import { LogOwner } from '@berth/endpoint-log';
import { atEndOfTurn, systemClock, systemRandom } from '@berth/lifecycle';
import { NatsLogBroker, ensureTopology, logShard, LOG_SHARDS, type Broker } from '@berth/messaging';
import { makeTempFolder, startNatsServer } from '@berth/servers';
import { jetstream } from '@nats-io/jetstream';
import { median, medianRatio, newProgress, percentile, print } from './figures.js';
import { openBroker } from './bench-broker.js';

const ENDPOINTS = [1, 16] as const;
const ROUNDS = 5;
/** Jobs under way at one time, and how many each of those lanes runs one after the other. */
const LANES = 256;
const JOBS_PER_LANE = 24;
const MESSAGE = JSON.stringify({ message: 'x'.repeat(400) }) as RawJson;
const HOLDER = { hostId: 'host' as HostId, workerId: 'worker' as WorkerId };
const SIZE = { replicas: 1, storageBytes: 4 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 } as const;
const DAY_MS = 24 * 3_600_000;

/**
 * Jobs from submit to end through the owner of their endpoint's log, each step told when it is committed, without HTTP,
 * agents and workers. Beside them, in the same rounds, one bare synced publish for each job.
 */
export async function benchLog(): Promise<void> {
  const folder = await makeTempFolder('berth-bench-log-');
  const server = await startNatsServer({ storeDir: folder.path });
  const broker = await openBroker(server.url);
  const owner = newOwner(broker);
  try {
    await ensureTopology({ broker, part: 'jobs', size: SIZE, clock: systemClock, random: systemRandom });
    for (let shard = 0; shard < LOG_SHARDS; shard += 1) await owner.take(shard);
    owner.start();
    await measure(owner, await openBareStream(broker));
  } finally {
    owner.stop();
    await broker.connection.close();
    await server.stop();
    await folder.remove();
  }
}

const newOwner = (broker: Broker): LogOwner =>
  new LogOwner({
    routerId: 'bench',
    broker: new NatsLogBroker({ broker, clock: systemClock }),
    clock: systemClock,
    random: systemRandom,
    atEndOfTurn,
    shardOf: logShard,
    trusts: () => true,
    purgeable: () => NOTHING_UNREAD,
    onTouched: () => undefined,
    onDeliveriesDue: () => undefined,
    onLooked: () => undefined,
    onEvent: (event) => {
      if (event.kind === 'stopped') throw new Error(`${event.endpointId}: ${event.reason}`);
    },
  });

interface Measured {
  readonly perSecond: number;
  readonly processorMs: number;
  readonly p50Ms: number;
}

async function measure(owner: LogOwner, publish: () => Promise<void>): Promise<void> {
  const results = ENDPOINTS.map((endpoints) => ({ endpoints, ours: [] as Measured[], bare: [] as Measured[] }));
  const progress = newProgress();
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { bare, endpoints, ours } of results) {
      const ids = Array.from({ length: endpoints }, (_, at) => `bench${endpoints}x${at}` as EndpointId);
      const publishes = await run(publish);
      const jobs = await run((lane) => runOne(owner, ids[lane % ids.length] as EndpointId));
      // The first round warms up.
      if (round === 0) continue;
      bare.push(publishes);
      ours.push(jobs);
      progress(`${endpoints} endpoints: round ${round} of ${ROUNDS}`);
    }
  }
  for (const { bare, endpoints, ours } of results) {
    const rates = ours.map(({ perSecond }) => perSecond);
    const publishes = bare.map(({ perSecond }) => perSecond);
    print(
      `jobs from submit to end in the logs of ${endpoints} endpoint${endpoints === 1 ? '' : 's'}: ` +
        `${median(rates).toFixed(0)}/s, p50 ${median(ours.map(({ p50Ms }) => p50Ms)).toFixed(1)} ms, ` +
        `${median(ours.map(({ processorMs }) => processorMs)).toFixed(3)} ms of this process each; ` +
        `one bare synced publish each: ${median(publishes).toFixed(0)}/s; ratio ${medianRatio(rates, publishes)}`,
    );
  }
}

async function run(one: (lane: number) => Promise<void>): Promise<Measured> {
  const startedAtMs = systemClock.monotonicMs();
  const processor = process.cpuUsage();
  const latenciesMs: number[] = [];
  const jobs = LANES * JOBS_PER_LANE;
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      for (let job = 0; job < JOBS_PER_LANE; job += 1) {
        const beganAtMs = systemClock.monotonicMs();
        await one(lane);
        latenciesMs.push(systemClock.monotonicMs() - beganAtMs);
      }
    }),
  );
  const { system, user } = process.cpuUsage(processor);
  return {
    perSecond: (jobs * 1_000) / (systemClock.monotonicMs() - startedAtMs),
    processorMs: (user + system) / 1_000 / jobs,
    p50Ms: percentile(
      latenciesMs.toSorted((a, b) => a - b),
      0.5,
    ),
  };
}

/** What the owner does for one job: for its caller, for the worker that takes it, and for its result. */
async function runOne(owner: LogOwner, endpointId: EndpointId): Promise<void> {
  const submitted = await perform(owner, endpointId, submission());
  if (submitted.kind !== 'accepted') throw new Error(`${endpointId}: the job is ${submitted.kind}`);
  const takeId = systemRandom.id(20);
  const wish = { takeId, ...HOLDER, slots: 1, secret: takeId };
  const taken = await perform(owner, endpointId, { kind: 'take', sentAtMs: systemClock.nowMs(), wishes: [wish] });
  const given = taken.kind === 'takes' ? taken.takes[0]?.jobs[0] : undefined;
  if (given === undefined) throw new Error(`${endpointId}: nothing waits`);
  const ended = await perform(owner, endpointId, { kind: 'finish', ...proofOf(given), ...RESULT });
  if (ended.kind !== 'recorded') throw new Error(`${endpointId}: the result is ${ended.kind}`);
}

const RESULT = {
  state: 'COMPLETED',
  error: null,
  output: { kind: 'inline', json: MESSAGE },
  outputBytes: MESSAGE.length,
  chunks: 0,
  logTail: [],
} as const;

const proofOf = (given: Omit<AttemptProof, 'hostId'>): AttemptProof => ({ ...given, hostId: HOLDER.hostId });

const submission = (): EndpointCommand => ({
  kind: 'submit',
  sentAtMs: systemClock.nowMs(),
  key: null,
  takers: [],
  bounds: { ...ENDPOINT_BOUNDS_DEFAULT, livingJobs: 10_000_000 },
  jobs: [
    {
      jobId: systemRandom.uuid() as JobId,
      origin: 'run',
      retentionMs: DAY_MS,
      executionTimeoutMs: DAY_MS,
      ttlMs: DAY_MS,
      isLowPriority: false,
      webhook: null,
      bodyBytes: MESSAGE.length,
      body: {
        input: { kind: 'inline', json: MESSAGE },
        extras: '{}' as RawJson,
        sealedExtras: null,
        traceparent: null,
      },
    },
  ],
});

function perform(owner: LogOwner, endpointId: EndpointId, command: EndpointCommand): Promise<CommandOutcome> {
  return new Promise((resolve, reject) => {
    owner.ask(endpointId, {
      refuse: (reason) => reject(new Error(`${endpointId}: ${reason}`)),
      use: (log) =>
        log.perform(command, (outcome) => {
          if (outcome.kind === 'settled') resolve(outcome.answer);
          else reject(new Error(`${endpointId}: ${outcome.kind}`));
        }),
    });
  });
}

async function openBareStream(broker: Broker): Promise<() => Promise<void>> {
  await broker.manager.streams.add({ name: 'BARE', subjects: ['bare'] });
  const publisher = jetstream(broker.connection);
  return async () => {
    await publisher.publish('bare', MESSAGE);
  };
}
