import {
  encodeJson,
  type AccountId,
  type EndpointId,
  type HostId,
  type Job,
  type JobId,
  type JobKey,
  type WorkerId,
} from '@berth/domain';
import {
  LEASE_MS,
  TIMEOUT_GRACE_MS,
  putDelivery,
  renewLease,
  submitJob,
  takeTicket,
  ticketOf,
  type JobStore,
  type StopSignal,
} from '@berth/jobs';
import { BrokerModel, ManualClock, SeededRandom, modelStore, openGate, sampleJob } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { showRecords } from '../../test/model/show-records.js';
import { JobView } from '../job-view/job-view.service.js';
import { Expirer } from './expirer.js';
import { findLostLeases } from './find-lost-leases.js';
import type { Attachment, WaitingTicket } from './maintenance.port.js';
import { Pruner } from './pruner.js';
import { HEARING_MS, Reaper } from './reaper.js';
import { TICKETLESS_GRACE_MS, Ticketer } from './ticketer.js';

const EP = 'ep' as EndpointId;
const signal = new AbortController().signal;
/** Past every interval and grace of the pruner. */
const LONG_AFTER_MS = 5 * 60_000;

let clock: ManualClock;
let broker: BrokerModel;
let store: JobStore;
let view: JobView;
let stops: StopSignal[];
let mended: string[];
let failures: unknown[];
let attachments: Attachment[];
let deleted: EndpointId[];
let untold: JobKey[];
let purged: number[];
let lastResetAtMs: number;

const observer = {
  mended: (finding: string, { jobId }: { jobId: string }) => mended.push(`${finding} ${jobId}`),
  failed: (_: string, error: unknown) => failures.push(error),
};

async function* tickets(): AsyncGenerator<WaitingTicket> {
  for (const isLowPriority of [false, true]) {
    for (const { ticket } of await store.tickets.list({
      endpointId: EP,
      isLowPriority,
      afterSequence: 0,
      limit: 10_000,
    }))
      yield ticket;
  }
}

async function* listAttachments(): AsyncGenerator<Attachment> {
  yield* attachments;
}

const survey = {
  tickets,
  hasTicket: async (ticket: WaitingTicket) => broker.hasTicket(ticket),
  attachments: listAttachments,
  purgeEndpoint: async () => purged.shift() ?? 0,
};

beforeEach(() => {
  clock = new ManualClock();
  broker = new BrokerModel(() => clock.nowMs());
  stops = [];
  mended = [];
  failures = [];
  attachments = [];
  deleted = [];
  untold = [];
  purged = [];
  lastResetAtMs = clock.nowMs() - 3_600_000;
  const stopSignals = { send: (_: HostId, stop: StopSignal) => void stops.push(stop) };
  store = { ...modelStore(broker, openGate), stopSignals, clock, random: new SeededRandom(5) };
  view = new JobView();
});

const look = (): void => {
  showRecords(broker, view);
};

const submit = async (name: string, more: { ttlMs?: number; executionTimeoutMs?: number } = {}): Promise<Job> => {
  const job = await submitJob(store, name as JobId, {
    endpointId: EP,
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
  look();
  return job;
};

const take = async (job: Job): Promise<void> => {
  await takeTicket(store, ticketOf(job), { hostId: 'host' as HostId, workerId: 'w' as WorkerId });
  await store.tickets.removeFor({ endpointId: EP, jobId: job.id }, job.attempt, false);
  look();
};

const stateOf = (name: string): string | undefined =>
  broker.readRecord({ endpointId: EP, jobId: name as JobId })?.job.state;
const hasTicket = (name: string, attempt = 1): boolean =>
  broker.hasTicket({ endpointId: EP, jobId: name as JobId, attempt });
const keyOf = (name: string, attempt = 1) => ({ endpointId: EP, jobId: name as JobId, attempt });

describe('the ticketer', () => {
  const ticketerOf = (watched: Partial<typeof survey> = {}): Ticketer => {
    const leases = {
      get lastResetAtMs() {
        return lastResetAtMs;
      },
    };
    return new Ticketer({ store, view, survey: { ...survey, ...watched }, leases, observer });
  };

  test('gives a job without a ticket a new one after the grace, and only then', async () => {
    const ticketer = ticketerOf();
    await submit('a');
    await store.tickets.removeFor(keyOf('a'), 1, false);
    await clock.advance(TICKETLESS_GRACE_MS);
    await ticketer.run(signal);
    expect(hasTicket('a')).toBe(false);
    await clock.advance(1);
    await ticketer.run(signal);
    expect(hasTicket('a')).toBe(true);
    expect(mended).toEqual(['ticket-missing a']);
  });

  test('finds nothing where every job has its ticket, run as often as you like', async () => {
    const ticketer = ticketerOf();
    await submit('a');
    await take(await submit('b'));
    await clock.advance(60_000);
    for (let n = 0; n < 3; n += 1) await ticketer.run(signal);
    expect(mended).toEqual([]);
    expect(hasTicket('b')).toBe(false);
  });

  test('looks again at a ticket that it saw before', async () => {
    const ticketer = ticketerOf();
    await submit('a');
    await clock.advance(10_000);
    await ticketer.run(signal);
    await store.tickets.removeFor(keyOf('a'), 1, false);
    await clock.advance(60_001);
    await ticketer.run(signal);
    expect(mended).toEqual(['ticket-missing a']);
  });

  test('looks at everything again after a break, which may have been the crash of the broker', async () => {
    const ticketer = ticketerOf();
    await submit('a');
    await clock.advance(10_000);
    await ticketer.run(signal);
    await store.tickets.removeFor(keyOf('a'), 1, false);
    await clock.advance(2_000);
    await ticketer.run(signal);
    expect(mended).toEqual([]);
    lastResetAtMs = clock.nowMs();
    await ticketer.run(signal);
    expect(mended).toEqual(['ticket-missing a']);
  });

  test('asks once for each job between two surveys, and lists nothing', async () => {
    const asked: string[] = [];
    let surveys = 0;
    const ticketer = ticketerOf({
      tickets: () => {
        surveys += 1;
        return tickets();
      },
      hasTicket: async (ticket) => {
        asked.push(ticket.jobId);
        return broker.hasTicket(ticket);
      },
    });
    await submit('surveyed');
    await clock.advance(10_000);
    await ticketer.run(signal);
    await submit('a');
    await submit('b');
    for (let second = 0; second < 40; second += 2) {
      await clock.advance(2_000);
      await ticketer.run(signal);
    }
    expect([surveys, asked.sort()]).toEqual([1, ['a', 'b']]);
  });

  test('corrects the view of a job that is not there', async () => {
    const ticketer = ticketerOf();
    await submit('a', { ttlMs: 10_000 });
    await store.tickets.removeFor(keyOf('a'), 1, false);
    await clock.advance(10_001);
    await ticketer.run(signal);
    expect(view.find(keyOf('a'))).toBeUndefined();
    expect(mended).toEqual([]);
  });
});

describe('the reaper', () => {
  const reaperOf = (): Reaper => {
    const leases = {
      stateOf: (key: Parameters<JobStore['leases']['read']>[0]) => {
        const { kind } = broker.readLease(key);
        return kind === 'missing' ? 'unseen' : kind;
      },
      get lastResetAtMs() {
        return lastResetAtMs;
      },
      onExpired: () => undefined,
    } as const;
    return new Reaper({ store, view, leases, observer });
  };

  const renew = async (name: string): Promise<void> => {
    const { attempt, current } = broker.readRecord(keyOf(name))!.job;
    const { hostId, token } = current!;
    expect(await renewLease(store, { ...keyOf(name), attempt, token }, hostId)).toBe('renewed');
  };

  /** Runs the reaper every second, as its loop does. */
  const reapFor = async (reaper: Reaper, ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      await clock.advance(1_000);
      look();
      await reaper.run(signal);
    }
  };

  test('queues a job again as soon as its lease has run out', async () => {
    const reaper = reaperOf();
    await take(await submit('a'));
    await renew('a');
    await reapFor(reaper, LEASE_MS - 1_000);
    expect(stateOf('a')).toBe('IN_PROGRESS');
    await reapFor(reaper, 1_000);
    expect(stateOf('a')).toBe('IN_QUEUE');
    expect(hasTicket('a', 2)).toBe(true);
    expect(mended).toEqual(['lease-expired a']);
  });

  test('takes an attempt that was never renewed for lost once it was running for 30 s', async () => {
    const reaper = reaperOf();
    await take(await submit('a'));
    await reapFor(reaper, 30_000);
    expect(stateOf('a')).toBe('IN_PROGRESS');
    await reapFor(reaper, 1_000);
    expect(stateOf('a')).toBe('IN_QUEUE');
    expect(mended).toEqual(['lease-missing a']);
  });

  test('lets agents be heard first after the watch was reset', async () => {
    const reaper = reaperOf();
    await take(await submit('a'));
    await renew('a');
    await reapFor(reaper, LEASE_MS - 2_000);
    lastResetAtMs = clock.nowMs();
    await reapFor(reaper, HEARING_MS - 1_000);
    expect(stateOf('a')).toBe('IN_PROGRESS');
    await reapFor(reaper, 2_000);
    expect(stateOf('a')).toBe('IN_QUEUE');
  });

  test('two of them do it once', async () => {
    const reapers = [reaperOf(), reaperOf()];
    await take(await submit('a'));
    await renew('a');
    await clock.advance(LEASE_MS - 1);
    for (const reaper of reapers) await reaper.run(signal);
    await clock.advance(2);
    await Promise.all(reapers.map((reaper) => reaper.run(signal)));
    expect(broker.readRecord(keyOf('a'))?.job).toMatchObject({ attempt: 2, charged: 1 });
  });
});

describe('the finding of lost leases', () => {
  test('counts from the later of the first sight and the last reset', () => {
    const job = { jobId: 'a', attempt: 1 } as never;
    const outlook = (nowMs: number, wholeForMs: number) => ({ stateOf: () => 'unseen' as const, nowMs, wholeForMs });
    const first = findLostLeases([job], new Map(), outlook(1_000, 60_000));
    expect(first.lost).toEqual([]);
    expect(findLostLeases([job], first.missingSinceMs, outlook(31_000, 29_999)).lost).toEqual([]);
    expect(findLostLeases([job], first.missingSinceMs, outlook(30_999, 60_000)).lost).toEqual([]);
    expect(findLostLeases([job], first.missingSinceMs, outlook(31_000, 30_000)).lost).toEqual([
      { job, why: 'missing' },
    ]);
  });

  test('forgets a lease that was seen again', () => {
    const job = { jobId: 'a', attempt: 1 } as never;
    const before = new Map([['a/1', 0]]);
    const seen = findLostLeases([job], before, { stateOf: () => 'live', nowMs: 40_000, wholeForMs: 99_000 });
    expect(seen.missingSinceMs.size).toBe(0);
  });
});

describe('the expirer', () => {
  test('times a job out whose agent did not, after its grace', async () => {
    const expirer = new Expirer({ store, view, observer });
    await take(await submit('a', { executionTimeoutMs: 10_000 }));
    await clock.advance(10_000 + TIMEOUT_GRACE_MS - 1);
    await expirer.run(signal);
    expect(stateOf('a')).toBe('IN_PROGRESS');
    await clock.advance(1);
    await expirer.run(signal);
    expect(stateOf('a')).toBe('TIMED_OUT');
    expect(stops).toMatchObject([{ jobId: 'a', reason: 'timed out' }]);
    expect(mended).toEqual(['deadline-passed a']);
  });

  test('tells the host of a running job that is gone, and removes its lease', async () => {
    const expirer = new Expirer({ store, view, observer });
    await take(await submit('a', { ttlMs: 10_000 }));
    await clock.advance(11_000);
    await expirer.run(signal);
    expect(stops).toMatchObject([{ jobId: 'a', attempt: 1, reason: 'expired' }]);
    expect(broker.readLease(keyOf('a')).kind).toBe('missing');
  });

  test('removes the ticket of a job that is gone', async () => {
    const expirer = new Expirer({ store, view, observer });
    await submit('a', { ttlMs: 10_000 });
    await clock.advance(11_000);
    await expirer.run(signal);
    expect(hasTicket('a')).toBe(false);
    expect([stops, mended]).toEqual([[], ['expired-queued a']]);
  });

  test('leaves a job alone whose life was prolonged while the view was behind', async () => {
    const expirer = new Expirer({ store, view, observer });
    const job = await submit('a', { ttlMs: 10_000 });
    const stored = await store.records.read(keyOf('a'));
    await store.records.replace({ ...job, expiresAtMs: job.expiresAtMs + 60_000 }, stored?.sequence ?? 0, 60_000);
    await clock.advance(11_000);
    await expirer.run(signal);
    expect(hasTicket('a')).toBe(true);
    expect(mended).toEqual([]);
  });
});

describe('the pruner', () => {
  const prunerOf = (): Pruner =>
    new Pruner({
      store,
      view,
      survey,
      observer,
      deletedEndpoints: { list: () => deleted, onDeleted: () => undefined },
      pendingDeliveries: { pending: () => untold },
    });

  const pruneTwice = async (pruner: Pruner): Promise<void> => {
    await pruner.run(signal);
    await clock.advance(LONG_AFTER_MS);
    look();
    await pruner.run(signal);
  };

  test('removes tickets of attempts that nobody waits for, and no other', async () => {
    const pruner = prunerOf();
    const taken = await submit('taken');
    await submit('waiting');
    await take(taken);
    await store.tickets.put(ticketOf(taken), 3_600_000);
    await pruneTwice(pruner);
    expect([hasTicket('taken'), hasTicket('waiting')]).toEqual([false, true]);
    expect(mended).toEqual(['ticket-orphaned taken']);
  });

  test('removes what lies beside jobs that are gone, and beside attempts that are over', async () => {
    const pruner = prunerOf();
    const job = await submit('live');
    await take(job);
    const { token } = broker.readRecord(keyOf('live'))?.job.current ?? { token: '' };
    const { giveUpAttempt } = await import('@berth/jobs');
    await store.chunks.append(keyOf('live'), { attempt: 1, index: 0, body: encodeJson(1) }, 3_600_000);
    await giveUpAttempt(store, { ...keyOf('live'), token, reason: 'r', isCharged: false });
    look();
    attachments = [
      { endpointId: EP, jobId: 'gone' as JobId, attempt: null },
      { endpointId: EP, jobId: 'live' as JobId, attempt: 1 },
      { endpointId: EP, jobId: 'live' as JobId, attempt: 2 },
      { endpointId: EP, jobId: 'live' as JobId, attempt: null },
    ];
    await store.blobs.writePart(keyOf('gone'), { name: 'in', index: 0, bytes: new Uint8Array(3) }, 3_600_000);
    await pruneTwice(pruner);
    expect(await store.blobs.readPart(keyOf('gone'), 'in', 0)).toBeNull();
    expect(await store.chunks.read({ ...keyOf('live'), fromIndex: 0, limit: 9 })).toEqual([]);
    expect([...mended].sort()).toEqual(['attachment-orphaned gone', 'attempt-superseded live']);
  });

  test('leaves the payloads of a job that has gone while somebody is still to be told of its end', async () => {
    const pruner = prunerOf();
    const job = {
      ...sampleJob(keyOf('told')),
      state: 'COMPLETED',
      endedAtMs: 1,
      webhook: 'https://example.com',
    } as const;
    await putDelivery(store, job);
    await store.blobs.writePart(keyOf('told'), { name: 'in', index: 0, bytes: new Uint8Array(3) }, 3_600_000);
    attachments = [{ endpointId: EP, jobId: 'told' as JobId, attempt: null }];
    untold = [keyOf('told')];
    await pruneTwice(pruner);
    // The view of deliveries may be behind; the record has the last word.
    untold = [];
    await pruneTwice(pruner);
    expect(await store.blobs.readPart(keyOf('told'), 'in', 0)).not.toBeNull();
    expect(mended).toEqual([]);
  });

  test('an input that is written before its record is left alone', async () => {
    const pruner = prunerOf();
    attachments = [{ endpointId: EP, jobId: 'coming' as JobId, attempt: null }];
    await pruner.run(signal);
    await submit('coming');
    await clock.advance(LONG_AFTER_MS);
    await pruner.run(signal);
    expect(mended).toEqual([]);
  });

  test('cancels the jobs of a deleted endpoint, then purges until nothing is left', async () => {
    const pruner = prunerOf();
    await take(await submit('running'));
    await submit('waiting');
    deleted = [EP];
    purged = [7, 0];
    const run = pruner.run(signal);
    await clock.advance(0);
    look();
    await clock.advance(1_000);
    await run;
    expect([stateOf('running'), stateOf('waiting')]).toEqual(['CANCELLED', 'CANCELLED']);
    expect(stops).toMatchObject([{ jobId: 'running', reason: 'cancelled' }]);
    expect(purged).toEqual([0]);
    await pruner.run(signal);
    expect(purged).toEqual([]);
    purged = [99];
    await pruner.run(signal);
    expect(purged).toEqual([99]);
  });
});
