import {
  RESERVATION_MS,
  acceptReserved,
  mendTicket,
  putTicket,
  reserve,
  reservedJobId,
  submitJob,
  type ItemOutcome,
  type JobStore,
  type Reserved,
  type Submission,
} from '@berth/jobs';
import {
  PlatformError,
  encodeJson,
  isEnded,
  type AccountId,
  type EndpointId,
  type HostId,
  type JobId,
  type WorkerId,
} from '@berth/domain';
import { describe, expect, test } from '@jest/globals';
import { ManualClock, letRun } from '../src/clock/manual-clock.js';
import { SeededRandom } from '../src/clock/seeded-random.js';
import { BrokerModel } from '../src/simulator/broker-model.js';
import type { Faults } from '../src/simulator/faulty-gate.js';
import { modelStore, openGate } from '../src/simulator/model-store.js';
import { REAL_OPERATIONS, type Operations } from '../src/simulator/operations.js';
import { RouterProcess } from '../src/simulator/router-process.js';
import { World, newOwner } from '../src/simulator/world.js';

const ENDPOINT = 'ep' as EndpointId;
const KEY = { endpointId: ENDPOINT, name: 'key' };
const RETENTION_MS = 60_000;

const submission = (): Omit<Submission, 'reservation'> => ({
  endpointId: ENDPOINT,
  accountId: 'account' as AccountId,
  origin: 'run',
  input: encodeJson({}),
  extras: encodeJson({}),
  sealedExtras: null,
  webhook: null,
  executionTimeoutMs: 60_000,
  ttlMs: 24 * 3_600_000,
  retentionMs: RETENTION_MS,
  isLowPriority: false,
  traceparent: null,
});

/** What a router does with a request that has a key. */
async function send(store: JobStore, size: number, fingerprint = 'body'): Promise<readonly ItemOutcome[]> {
  const firstId = store.random.uuid() as JobId;
  const isSame = (kept: string): boolean => kept === fingerprint;
  const reserved = await reserve(store, { key: KEY, firstId, size, fingerprint, isSame });
  return acceptReserved(store, reserved, itemsOf(reserved));
}

const itemsOf = ({ reservation }: Reserved): readonly { item: number; submissionOf: typeof submission }[] =>
  Array.from({ length: reservation.size }, (_, item) => ({ item, submissionOf: submission }));

const idsOf = (outcomes: readonly ItemOutcome[]): readonly (JobId | null)[] =>
  outcomes.map((outcome) => (outcome.kind === 'accepted' ? outcome.id : null));

function calmStore(): { readonly store: JobStore; readonly broker: BrokerModel; readonly clock: ManualClock } {
  const clock = new ManualClock();
  const broker = new BrokerModel(() => clock.nowMs());
  const store: JobStore = {
    ...modelStore(broker, openGate),
    stopSignals: { send: () => undefined },
    clock,
    random: new SeededRandom(1),
  };
  return { store, broker, clock };
}

describe('a request with an idempotency key', () => {
  test('is one job however often it comes', async () => {
    const { store, broker } = calmStore();
    const [first] = await send(store, 1);
    expect(idsOf(await send(store, 1))).toEqual(idsOf([first as ItemOutcome]));
    expect(broker.liveRecords()).toHaveLength(1);
    expect(broker.readReservation(KEY)?.reservation.missing).toEqual([]);
  });

  test('another request under the key is refused and makes nothing', async () => {
    const { store, broker } = calmStore();
    await send(store, 1);
    await expect(send(store, 1, 'other')).rejects.toMatchObject({ code: 'idempotency-key-reused' });
    expect(broker.liveRecords()).toHaveLength(1);
  });

  test('does not run again when its job is gone, and does when the key is forgotten', async () => {
    const { store, broker, clock } = calmStore();
    const [first] = idsOf(await send(store, 1));
    await clock.advance(submission().ttlMs - 1_000);
    expect(idsOf(await send(store, 1))).toEqual([first]);
    expect(broker.versions).toHaveLength(1);
    await clock.advance(RESERVATION_MS);
    expect(idsOf(await send(store, 1))).not.toEqual([first]);
    expect(broker.versions).toHaveLength(2);
  });

  test('of several jobs gives each an id of its own, always the same', async () => {
    const { store, broker } = calmStore();
    const ids = idsOf(await send(store, 40));
    expect(new Set(ids).size).toBe(40);
    expect(ids.every((id) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id ?? ''))).toBe(true);
    expect(idsOf(await send(store, 40))).toEqual(ids);
    expect(broker.liveRecords()).toHaveLength(40);
  });

  test('makes what is missing, and leaves the rest', async () => {
    const { store, broker, clock } = calmStore();
    const create = store.records.create.bind(store.records);
    let creates = 0;
    const failing = {
      ...store,
      records: {
        ...store.records,
        create: (...args: Parameters<typeof create>) => {
          creates += 1;
          if (creates % 2 === 0) throw new PlatformError('service-unavailable', 'full');
          return create(...args);
        },
      },
    };
    const outcomes = await send(failing, 6);
    expect(outcomes.map(({ kind }) => kind)).toEqual([
      'accepted',
      'failed',
      'accepted',
      'failed',
      'accepted',
      'failed',
    ]);
    expect(broker.readReservation(KEY)?.reservation.missing).toEqual([1, 3, 5]);
    const again = send(store, 6);
    // The rest is left to the first request for as long as it may still be at it.
    await letRun();
    expect(broker.liveRecords()).toHaveLength(3);
    await clock.advance(3_000);
    expect((await again).map(({ kind }) => kind)).toEqual(Array(6).fill('accepted'));
    expect(broker.versions).toHaveLength(6);
  });

  test('a job without a ticket gets one only after the reservation says that it is stored', async () => {
    const { store, broker } = calmStore();
    const fingerprint = 'body';
    const request = { key: KEY, firstId: 'a' as JobId, size: 1, fingerprint, isSame: () => true };
    await reserve(store, request);
    const { reservation } = broker.readReservation(KEY) ?? {};
    const id = reservedJobId(reservation ?? { firstId: 'none' as JobId, size: 1 }, 0);
    const job = await submitJob(store, id, { ...submission(), reservation: { name: KEY.name, item: 0 } });
    expect(broker.readReservation(KEY)?.reservation.missing).toEqual([0]);
    await mendTicket(store, job);
    expect(broker.readReservation(KEY)?.reservation.missing).toEqual([]);
  });
});

const SEEDS = 300;
const FAULTS: Faults = { crash: 0.05, unavailable: 0.03, lostAnswer: 0.06 };
const FAULT_WINDOW_MS = 60_000;
const CLIENTS_MAX = 5;
const SENDS = 4;
const STEPS_MAX = 60_000;

interface Run {
  readonly answers: readonly (readonly (JobId | null)[])[];
  /** Every job that was ever made, and whether a worker got it. */
  readonly made: ReadonlyMap<JobId, boolean>;
}

/** Clients that send one request again and again, over longer than its jobs live, to two routers that die. */
async function run(seed: number, size: number, operations: Operations = REAL_OPERATIONS): Promise<Run> {
  const world = new World(new SeededRandom(seed));
  const { random } = world;
  const startMs = world.nowMs;
  const outside = newOwner('outside');
  const broker = new BrokerModel(() => world.nowMs);
  const faults = (): Faults =>
    world.nowMs - startMs < FAULT_WINDOW_MS ? FAULTS : { crash: 0, unavailable: 0, lostAnswer: 0 };
  const parts = { world, broker, operations, faults, network: outside, sendStop: () => undefined };
  const routers = ['a', 'b'].map((name) => new RouterProcess(name, parts));
  const answers: (readonly (JobId | null)[])[] = [];
  const clients = random.integer(1, CLIENTS_MAX);
  let left = clients;
  const client = async (): Promise<void> => {
    for (let n = 0; n < SENDS; n += 1) {
      await world.sleep(outside, random.integer(0, n < 2 ? 3_000 : 5 * RETENTION_MS));
      const answer = random.pick(routers).call((store) => send(store, size));
      await answer.then((outcomes) => answers.push(idsOf(outcomes))).catch(() => undefined);
    }
    left -= 1;
  };
  const worker = async (): Promise<void> => {
    const taking = { hostId: 'h' as HostId, workerId: 'w' as WorkerId, endpointId: ENDPOINT };
    for (;;) {
      await world.sleep(outside, random.integer(100, 1_000));
      const router = random.pick(routers);
      await router
        .call(async (store) => {
          const job = await router.takeNext(store, taking);
          if (job?.current == null) return;
          const report = { endpointId: ENDPOINT, jobId: job.id, token: job.current.token };
          await REAL_OPERATIONS.finishAttempt(store, report, { kind: 'completed', output: null, chunks: 0 });
        })
        .catch(() => undefined);
    }
  };
  for (let n = 0; n < clients; n += 1) void client();
  void worker();
  const isAtRest = (): boolean => left === 0 && broker.liveRecords().every(({ job }) => isEnded(job.state));
  await world.run(isAtRest, STEPS_MAX);
  return { answers, made: jobsMade(broker, seed) };
}

/** A record that appears again after it had been taken is a job that runs twice. */
function jobsMade(broker: BrokerModel, seed: number): ReadonlyMap<JobId, boolean> {
  const made = new Map<JobId, boolean>();
  for (const { job } of broker.versions) {
    const isNew = job.state === 'IN_QUEUE' && job.attempt === 1;
    if (isNew && made.get(job.id) === true) throw new Error(`seed ${seed}: ${job.id} was made again after it had run`);
    made.set(job.id, made.get(job.id) === true || job.state === 'IN_PROGRESS');
  }
  return made;
}

/** @throws Error that names the seed and what is broken */
async function check(seed: number, size: number, operations?: Operations): Promise<void> {
  const { answers, made } = await run(seed, size, operations);
  for (let item = 0; item < size; item += 1) {
    const ids = new Set(answers.flatMap((answer) => answer[item] ?? []));
    if (ids.size > 1) throw new Error(`seed ${seed}: item ${item} has the ids ${[...ids].join(', ')}`);
  }
  const isDone = answers.some((answer) => !answer.includes(null));
  if (made.size > size || (isDone && made.size < size)) throw new Error(`seed ${seed}: ${made.size} jobs were made`);
  if ([...made.values()].includes(false)) throw new Error(`seed ${seed}: a job never ran`);
}

describe('requests with one key, at two routers that die between any two writes', () => {
  test.each([1, 3])(
    'never make two jobs of one (%i in the request)',
    async (size) => {
      for (let seed = 1; seed <= SEEDS; seed += 1) await check(seed, size);
    },
    300_000,
  );

  test('a ticket that is put before the reservation knows of the job is found', async () => {
    const doctored: Operations = { ...REAL_OPERATIONS, mendTicket: putTicket };
    const search = async (): Promise<void> => {
      for (let seed = 1; seed <= 10 * SEEDS; seed += 1) await check(seed, 1, doctored);
    };
    await expect(search()).rejects.toThrow('was made again after it had run');
  }, 300_000);
});
