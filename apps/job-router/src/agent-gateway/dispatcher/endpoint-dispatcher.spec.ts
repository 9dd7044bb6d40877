import type { AccountId, EndpointId, HostId, Job, JobId, WorkerId } from '@berth/domain';
import { encodeJson } from '@berth/domain';
import { cancel, giveUpAttempt, submitJob, type JobStore, type Submission } from '@berth/jobs';
import { BrokerModel, ManualClock, SeededRandom, letRun, modelStore, openGate } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { EndpointDispatcher, POLL_MS, type DispatchObserver } from './endpoint-dispatcher.js';

const ENDPOINT = 'ep' as EndpointId;
const WISH = { hostId: 'host' as HostId, workerId: 'worker' as WorkerId, slots: 1, waitMs: 20_000 };

let clock: ManualClock;
let broker: BrokerModel;
let store: JobStore;
let rings: (() => void)[];
let failures: unknown[];
let stale: number;
const open: EndpointDispatcher[] = [];

const observer: DispatchObserver = {
  taken: () => undefined,
  gaveBack: () => undefined,
  staleTicket: () => {
    stale += 1;
  },
  failed: (_, error) => failures.push(error),
};

beforeEach(async () => {
  await Promise.all(open.splice(0).map((dispatcher) => dispatcher.close()));
  clock = new ManualClock();
  broker = new BrokerModel(() => clock.nowMs());
  const random = new SeededRandom(7);
  store = { ...modelStore(broker, openGate), stopSignals: { send: () => undefined }, clock, random };
  rings = [];
  failures = [];
  stale = 0;
});

const dispatcherOf = (over: JobStore = store): EndpointDispatcher => {
  const doorbell = {
    listen: (_: EndpointId, onRing: () => void) => {
      rings.push(onRing);
      return () => undefined;
    },
  };
  const dispatcher = new EndpointDispatcher({ store: over, endpointId: ENDPOINT, doorbell, jobsPerReply: 4, observer });
  open.push(dispatcher);
  return dispatcher;
};

const ring = async (): Promise<void> => {
  for (const each of rings) each();
  await letRun();
};

const submit = async (name: string, more: Partial<Submission> = {}): Promise<Job> =>
  submitJob(store, name as JobId, {
    endpointId: ENDPOINT,
    accountId: 'account' as AccountId,
    origin: 'run',
    input: encodeJson({}),
    extras: encodeJson({}),
    sealedExtras: null,
    reservation: null,
    webhook: null,
    executionTimeoutMs: 60_000,
    ttlMs: 3_600_000,
    retentionMs: 60_000,
    isLowPriority: false,
    traceparent: null,
    ...more,
  });

const idsOf = (jobs: readonly Job[]): readonly string[] => jobs.map(({ id }) => id);
const stateOf = (name: string): string | undefined =>
  broker.readRecord({ endpointId: ENDPOINT, jobId: name as JobId })?.job.state;
const ticketCount = (): number =>
  [false, true].flatMap((isLowPriority) =>
    broker.listTickets({ endpointId: ENDPOINT, isLowPriority, afterSequence: 0, limit: 10_000 }),
  ).length;

describe('one endpoint dispatcher', () => {
  test('a job that waits is given to a worker that asks, and its ticket goes', async () => {
    await submit('a');

    const jobs = await dispatcherOf().take(WISH);

    expect(jobs[0]).toMatchObject({ id: 'a', state: 'IN_PROGRESS', current: { hostId: 'host', workerId: 'worker' } });
    await letRun();
    expect(ticketCount()).toBe(0);
  });

  test('a worker that waits gets a job as soon as the doorbell rings', async () => {
    const answer = dispatcherOf().take(WISH);
    await letRun();
    await submit('a');
    await ring();

    expect(idsOf(await answer)).toEqual(['a']);
  });

  test('a ring that comes while the queue is being read is not lost', async () => {
    const { promise: reading, resolve: answerRead } = Promise.withResolvers<void>();
    let reads = 0;
    const tickets = {
      ...store.tickets,
      list: async (query: Parameters<JobStore['tickets']['list']>[0]) => {
        reads += 1;
        const page = await store.tickets.list(query);
        if (reads === 1) await reading;
        return page;
      },
    };
    const answer = dispatcherOf({ ...store, tickets }).take(WISH);
    await letRun();
    await submit('a');
    await ring();
    answerRead();

    expect(idsOf(await answer)).toEqual(['a']);
  });

  test('a lost doorbell costs no more than one poll', async () => {
    const answer = dispatcherOf().take(WISH);
    await letRun();
    await submit('a');
    await clock.advance(POLL_MS);

    expect(idsOf(await answer)).toEqual(['a']);
  });

  test('nothing in time is an empty answer, and a job that comes later stays queued', async () => {
    const dispatcher = dispatcherOf();
    const answer = dispatcher.take(WISH);
    await clock.advance(WISH.waitMs);

    expect(await answer).toEqual([]);
    await submit('a');
    await ring();
    await clock.advance(2 * POLL_MS);
    expect(stateOf('a')).toBe('IN_QUEUE');
    expect(dispatcher.waiting).toBe(0);
  });

  test('a withdrawn wish is answered at once, and its job goes to the next who waits', async () => {
    const dispatcher = dispatcherOf();
    const withdrawn = [dispatcher.take(WISH), dispatcher.take({ ...WISH, slots: 4 })];
    const other = dispatcher.take({ ...WISH, workerId: 'other' as WorkerId });
    const elsewhere = dispatcher.take({ ...WISH, hostId: 'other' as HostId });
    await letRun();
    dispatcher.withdraw(WISH);
    expect(await Promise.all(withdrawn)).toEqual([[], []]);
    expect(dispatcher.waiting).toBe(2);
    await submit('a');
    await submit('b');
    await ring();

    expect((await Promise.all([other, elsewhere])).flatMap(idsOf)).toEqual(['a', 'b']);
  });

  test('a job that is being taken for a wish when it is withdrawn is answered all the same: its host knows best', async () => {
    const { promise: writing, resolve: answerWrite } = Promise.withResolvers<void>();
    const records = {
      ...store.records,
      replace: async (...args: Parameters<JobStore['records']['replace']>) => {
        await writing;
        return store.records.replace(...args);
      },
    };
    await submit('a');
    const dispatcher = dispatcherOf({ ...store, records });
    const answer = dispatcher.take(WISH);
    await letRun();
    dispatcher.withdraw(WISH);
    answerWrite();

    expect(idsOf(await answer)).toEqual(['a']);
  });

  test('jobs start in the order of their acceptance, for workers in the order of their asking', async () => {
    const names = Array.from({ length: 198 }, (_, n) => `j${n}`);
    for (const name of names) await submit(name);
    const dispatcher = dispatcherOf();
    const answers: string[] = [];
    while (answers.length < names.length) {
      const batch = await Promise.all([1, 2, 3].map((slots) => dispatcher.take({ ...WISH, slots })));
      answers.push(...batch.flatMap(idsOf));
    }

    expect(answers).toEqual(names);
    const starts = names.map((name) => broker.readRecord({ endpointId: ENDPOINT, jobId: name as JobId })?.job.current);
    const instants = starts.map((current) => current?.startedAtMs ?? 0);
    expect(instants).toEqual([...instants].sort((a, b) => a - b));
  });

  test('low priority comes after normal jobs that wait, whatever the order of submission', async () => {
    await submit('low1', { isLowPriority: true });
    await submit('low2', { isLowPriority: true });
    await submit('a');
    await submit('b');
    const dispatcher = dispatcherOf();
    const order: string[] = [];
    for (let n = 0; n < 4; n += 1) order.push(...idsOf(await dispatcher.take(WISH)));

    expect(order).toEqual(['a', 'b', 'low1', 'low2']);
  });

  test('a ticket whose delay runs does not hold up the ones behind it, and is taken when the delay is over', async () => {
    await submit('a');
    const dispatcher = dispatcherOf();
    const [first] = await dispatcher.take(WISH);
    const loss = { endpointId: ENDPOINT, jobId: 'a' as JobId, attempt: 1, reason: 'crash', isCharged: true };
    await giveUpAttempt(store, { ...loss, token: first?.current?.token ?? '' });
    const dueInMs =
      (broker.readRecord({ endpointId: ENDPOINT, jobId: 'a' as JobId })?.job.notBeforeMs ?? 0) - clock.nowMs();
    expect(dueInMs).toBeGreaterThan(700);
    await submit('b');

    expect(idsOf(await dispatcher.take(WISH))).toEqual(['b']);
    const answer = dispatcher.take(WISH);
    await clock.advance(dueInMs - 1);
    expect(stateOf('a')).toBe('IN_QUEUE');
    await clock.advance(1);
    expect(idsOf(await answer)).toEqual(['a']);
  });

  test('a stale ticket is dropped and the next one is taken', async () => {
    await submit('a');
    const job = await submit('b');
    await cancel(store, { endpointId: ENDPOINT, jobId: 'a' as JobId });
    await store.tickets.put({ ...ticket(job), jobId: 'a' as JobId }, 60_000);

    const dispatcher = dispatcherOf();
    expect(idsOf(await dispatcher.take(WISH))).toEqual(['b']);
    await clock.advance(1);
    const answer = dispatcher.take({ ...WISH, waitMs: 1_000 });
    await clock.advance(1_000);
    expect(await answer).toEqual([]);
    expect(stale).toBe(1);
    expect(ticketCount()).toBe(0);
  });

  test('two routers over one queue give each job to one worker only', async () => {
    const names = Array.from({ length: 120 }, (_, n) => `j${n}`);
    for (const name of names) await submit(name);
    const routers = [dispatcherOf(), dispatcherOf()];
    const given: string[] = [];
    for (let round = 0; round < 100 && given.length < names.length; round += 1) {
      const wishes = routers.flatMap((router) => [1, 2].map(() => router.take({ ...WISH, slots: 3, waitMs: 500 })));
      await letRun();
      await clock.advance(500);
      given.push(...(await Promise.all(wishes)).flatMap(idsOf));
    }

    expect([...given].sort()).toEqual([...names].sort());
  });

  test('one reply carries a bounded number of jobs, the worker asks again for the rest', async () => {
    for (let n = 0; n < 10; n += 1) await submit(`j${n}`);
    const dispatcher = dispatcherOf();

    expect(await dispatcher.take({ ...WISH, slots: 64 })).toHaveLength(4);
    expect(await dispatcher.take({ ...WISH, slots: 60 })).toHaveLength(4);
    expect(await dispatcher.take({ ...WISH, slots: 56 })).toHaveLength(2);
  });

  test('a store that does not answer loses no ticket: the job is given once it answers again', async () => {
    let isDown = true;
    const records = {
      ...store.records,
      replace: async (...args: Parameters<JobStore['records']['replace']>) => {
        if (isDown) throw new Error('down');
        return store.records.replace(...args);
      },
    };
    await submit('a');
    const answer = dispatcherOf({ ...store, records }).take(WISH);
    await clock.advance(3_000);
    expect(failures.length).toBeGreaterThan(1);
    expect(ticketCount()).toBe(1);
    isDown = false;
    await clock.advance(1_000);

    expect(idsOf(await answer)).toEqual(['a']);
  });

  test('a queue that cannot be listed is tried again without anyone asking', async () => {
    let isDown = true;
    const tickets = {
      ...store.tickets,
      list: async (query: Parameters<JobStore['tickets']['list']>[0]) => {
        if (isDown) throw new Error('down');
        return store.tickets.list(query);
      },
    };
    await submit('a');
    const answer = dispatcherOf({ ...store, tickets }).take(WISH);
    await clock.advance(1_000);
    isDown = false;
    await clock.advance(250);

    expect(idsOf(await answer)).toEqual(['a']);
  });

  test('closing answers everyone, gives what was being taken, and takes nothing after', async () => {
    const dispatcher = dispatcherOf();
    const waits = [dispatcher.take(WISH), dispatcher.take(WISH)];
    await letRun();
    await dispatcher.close();

    expect(await Promise.all(waits)).toEqual([[], []]);
    expect(await dispatcher.take(WISH)).toEqual([]);
    await submit('a');
    await ring();
    expect(stateOf('a')).toBe('IN_QUEUE');
  });

  test('a wait that ends during a take still gets its job', async () => {
    await submit('a');
    const records = {
      ...store.records,
      replace: async (...args: Parameters<JobStore['records']['replace']>) => {
        await clock.sleep(5_000);
        return store.records.replace(...args);
      },
    };
    const answer = dispatcherOf({ ...store, records }).take({ ...WISH, waitMs: 1_000 });
    await clock.advance(5_000);

    expect(idsOf(await answer)).toEqual(['a']);
  });

  test('idleness is counted from the last question, and is none while someone waits', async () => {
    const dispatcher = dispatcherOf();
    const answer = dispatcher.take({ ...WISH, waitMs: 10_000 });
    await clock.advance(5_000);
    expect(dispatcher.idleMs).toBe(0);
    await clock.advance(5_000);
    await answer;
    expect(dispatcher.idleMs).toBe(10_000);
  });
});

const ticket = (job: Job) => ({
  endpointId: job.endpointId,
  jobId: job.id,
  attempt: job.attempt,
  isLowPriority: job.lowPriority,
  notBeforeMs: job.notBeforeMs,
});
