import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  ENDPOINT_BOUNDS_DEFAULT,
  type CommandOutcome,
  type EndpointCommand,
  type EndpointId,
  type HostId,
  type JobId,
  type RawJson,
  type WorkerId,
} from '@berth/domain';
import { LogOwner, type OpenLog } from '@berth/endpoint-log';
import { atEndOfTurn, inParallel, systemClock, systemRandom, type Clock } from '@berth/lifecycle';
import { LOG_SHARDS, NatsLogBroker, ensureTopology, logShard } from '@berth/messaging';
import { makeTempFolder, startNatsServer } from '@berth/servers';
import { openBroker } from './bench-broker.js';
import { readMemoryConfig } from './config.js';
import { newProgress, print } from './figures.js';

const JOBS_PER_ENDPOINT = 1_000;
const WARM_ENDPOINTS = 20;
const COLLECTIONS = 16;
/** As many as one request may bring. */
const BATCH = 100;
const SLOTS = 64;
const AT_ONCE = 64;
const DAY_MS = 24 * 3_600_000;
const INPUT = JSON.stringify({ message: 'x'.repeat(100) }) as RawJson;
const SIZE = { replicas: 1, storageBytes: 8 * 1024 ** 3, memoryBytes: 64 * 1024 ** 2 } as const;
const HOLDER = { hostId: 'host' as HostId, workerId: 'worker' as WorkerId };
const KIB = 1024;

/** Time that can be put forward: what ends jobs is a day away. */
class ShiftedClock implements Clock {
  shiftMs = 0;
  readonly nowMs = (): number => systemClock.nowMs() + this.shiftMs;
  readonly monotonicMs = (): number => systemClock.monotonicMs() + this.shiftMs;
  readonly sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(ms, signal);
  readonly after: Clock['after'] = (ms, act) => systemClock.after(ms, act);
  readonly every: Clock['every'] = (ms, tick) => systemClock.every(ms, tick);
}

/**
 * What jobs leave in the process that owns their logs: while they wait, and when all have run and are gone. The broker is a
 * process of its own.
 */
export async function benchMemory(): Promise<void> {
  const { jobs } = readMemoryConfig();
  const folder = await makeTempFolder('berth-bench-memory-');
  const server = await startNatsServer({ storeDir: folder.path });
  const broker = await openBroker(server.url);
  try {
    await ensureTopology({ broker, part: 'jobs', size: SIZE, clock: systemClock, random: systemRandom });
    const clock = new ShiftedClock();
    const owned = new OwnedJobs(clock, new NatsLogBroker({ broker, clock: systemClock }), jobs / JOBS_PER_ENDPOINT);
    await owned.measure(jobs);
    owned.owner.stop();
  } finally {
    await broker.connection.close();
    await server.stop();
    await folder.remove();
  }
}

class OwnedJobs {
  readonly owner: LogOwner;
  readonly #clock: ShiftedClock;
  readonly #endpointIds: readonly EndpointId[];

  constructor(clock: ShiftedClock, broker: NatsLogBroker, endpoints: number) {
    this.#clock = clock;
    this.#endpointIds = Array.from({ length: Math.ceil(endpoints) }, (_, at) => `memory${at}` as EndpointId);
    this.owner = new LogOwner({
      ...{ routerId: 'bench', broker, clock, random: systemRandom, shardOf: logShard },
      atEndOfTurn,
      trusts: () => true,
      purgeable: () => ({ through: Number.MAX_SAFE_INTEGER, readThrough: Number.MAX_SAFE_INTEGER, reason: 'read' }),
      onTouched: () => undefined,
      onDeliveriesDue: () => undefined,
      onLooked: () => undefined,
      onEvent: (event) => {
        if (event.kind === 'stopped') throw new Error(`${event.endpointId}: ${event.reason}`);
      },
    });
  }

  async measure(jobs: number): Promise<void> {
    for (let shard = 0; shard < LOG_SHARDS; shard += 1) await this.owner.take(shard);
    this.owner.start();
    // What is loaded and compiled for the first jobs is no memory of jobs.
    await this.#live(this.#endpointIds.slice(0, WARM_ENDPOINTS));
    const before = usedBytes();
    await this.#submit(this.#endpointIds);
    const waiting = usedBytes();
    print(`${jobs} jobs that wait: ${((waiting - before) / jobs / KIB).toFixed(2)} KiB each`);
    await this.#run(this.#endpointIds);
    const ended = usedBytes();
    print(`${jobs} jobs that have ended and are kept: ${((ended - before) / jobs / KIB).toFixed(2)} KiB each`);
    await this.#outlive(this.#endpointIds);
    const after = usedBytes();
    print(
      `when all are gone: ${(after / before).toFixed(3)} times what there was before (${mib(before)} to ${mib(after)})`,
    );
  }

  async #live(endpointIds: readonly EndpointId[]): Promise<void> {
    await this.#submit(endpointIds);
    await this.#run(endpointIds);
    await this.#outlive(endpointIds);
  }

  #submit(endpointIds: readonly EndpointId[]): Promise<void> {
    return this.#each('submitted', endpointIds, async (endpointId) => {
      for (let left = JOBS_PER_ENDPOINT; left > 0; left -= BATCH) {
        await this.#perform(endpointId, submission(this.#clock.nowMs()));
      }
    });
  }

  #run(endpointIds: readonly EndpointId[]): Promise<void> {
    return this.#each('run', endpointIds, async (endpointId) => {
      for (let left = JOBS_PER_ENDPOINT; left > 0;) {
        const takeId = systemRandom.id(20);
        const wish = { takeId, ...HOLDER, slots: SLOTS, secret: takeId };
        const taken = await this.#perform(endpointId, { kind: 'take', sentAtMs: this.#clock.nowMs(), wishes: [wish] });
        const given = taken.kind === 'takes' ? (taken.takes[0]?.jobs ?? []) : [];
        if (given.length === 0) throw new Error(`${endpointId}: ${left} jobs are left and none is given`);
        await Promise.all(
          given.map((each) => this.#perform(endpointId, { kind: 'finish', ...each, hostId: HOLDER.hostId, ...RESULT })),
        );
        left -= given.length;
      }
    });
  }

  /** Until what has ended is kept no longer. */
  async #outlive(endpointIds: readonly EndpointId[]): Promise<void> {
    this.#clock.shiftMs += 2 * DAY_MS;
    await this.#each('outlived', endpointIds, async (endpointId) => {
      while ((await this.#ask<number>(endpointId, (log, tell) => log.read((state) => state.jobs.size, tell))) > 0) {
        await systemClock.sleep(20);
      }
    });
    // What nobody asks for any more is closed, as it is once a minute.
    this.#clock.shiftMs += DAY_MS;
    await this.owner.tend();
    // A router tells of it several times a second; what has not been told yet is remembered until then.
    for (let shard = 0; shard < LOG_SHARDS; shard += 1) this.owner.takeDemand(shard);
  }

  async #each(
    what: string,
    endpointIds: readonly EndpointId[],
    act: (endpointId: EndpointId) => Promise<void>,
  ): Promise<void> {
    const progress = newProgress();
    let done = 0;
    await inParallel(endpointIds, AT_ONCE, async (endpointId) => {
      await act(endpointId);
      done += 1;
      progress(`${what} at ${done} of ${endpointIds.length} endpoints`);
    });
  }

  #perform(endpointId: EndpointId, command: EndpointCommand): Promise<CommandOutcome> {
    return this.#ask<CommandOutcome>(endpointId, (log, tell) => log.perform(command, tell));
  }

  #ask<Answer>(
    endpointId: EndpointId,
    act: (log: OpenLog, tell: Parameters<typeof log.read<Answer>>[1]) => void,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.owner.ask(endpointId, {
        refuse: (reason) => reject(new Error(`${endpointId}: ${reason}`)),
        use: (log) =>
          act(log, (outcome) => {
            if (outcome.kind === 'settled') resolve(outcome.answer);
            else reject(new Error(`${endpointId}: ${outcome.kind}`));
          }),
      });
    });
  }
}

const submission = (sentAtMs: number): EndpointCommand => ({
  ...{ kind: 'submit', sentAtMs, key: null, takers: [], bounds: ENDPOINT_BOUNDS_DEFAULT },
  jobs: Array.from({ length: BATCH }, () => ({
    jobId: systemRandom.uuid() as JobId,
    ...{ origin: 'run', retentionMs: DAY_MS, executionTimeoutMs: DAY_MS, ttlMs: DAY_MS },
    ...{ isLowPriority: false, webhook: null, bodyBytes: INPUT.length },
    body: {
      input: { kind: 'inline', json: INPUT },
      extras: '{}' as RawJson,
      sealedExtras: null,
      traceparent: null,
    },
  })),
});

const RESULT = {
  state: 'COMPLETED',
  error: null,
  output: { kind: 'inline', json: INPUT },
  outputBytes: INPUT.length,
  chunks: 0,
  logTail: [],
} as const;

const mib = (bytes: number): string => `${(bytes / KIB ** 2).toFixed(1)} MiB`;

/** What lives after everything that nobody refers to any more was collected. */
function usedBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // Code that has not run for some collections goes, too, and does so only then.
  for (let round = 0; round < COLLECTIONS; round += 1) collect();
  const { arrayBuffers, heapUsed } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
