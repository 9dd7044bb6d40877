import type { DesiredWorker, ReportRequest, WakeMessage } from '@berth/contracts';
import type { EndpointId, Inventory, WorkerId } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import { HostSession } from './host-session.js';
import { NO_VOLUMES } from '../volumes/index.js';
import { FakeWorkerLogs } from '../../test/fake-worker-logs.js';

const INVENTORY: Inventory = {
  vcpus: 2,
  isOvercommitted: false,
  memoryBytes: 1,
  diskBytes: 1,
  gpus: [],
  areGpusSimulated: false,
  cudaVersion: null,
  runtime: 'process',
  images: [],
};

class Link {
  readonly reports: ReportRequest[] = [];
  isAway = false;
  /** Longest waits for the connection that were asked for. */
  readonly waits: number[] = [];
  stands: Promise<void> = Promise.resolve();
  #listener: (message: WakeMessage) => void = () => undefined;
  /** What happens between a report and its answer. */
  meanwhile: () => void = () => undefined;

  async connected(withinMs: number, signal: AbortSignal): Promise<void> {
    this.waits.push(withinMs);
    const stopped = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    await Promise.race([this.stands, stopped]);
  }

  reply: unknown = { desired: [], dataCenterId: 'EU-1' };

  async report(request: ReportRequest): Promise<unknown> {
    this.reports.push(request);
    if (this.isAway) throw new Error('nobody answers');
    await Promise.resolve();
    this.meanwhile();
    return this.reply;
  }

  wake(...resumedIds: readonly string[]): void {
    this.wakeWith({ resumedIds: resumedIds as readonly WorkerId[] });
  }

  wakeWith(message: WakeMessage): void {
    this.#listener(message);
  }

  onWake(listener: (message: WakeMessage) => void): () => void {
    this.#listener = listener;
    return () => undefined;
  }
}

class Workers {
  readonly wanted: [readonly DesiredWorker[], string][] = [];
  readonly told: (readonly string[])[] = [];
  change: () => void = () => undefined;

  isHeld: (workerId: WorkerId) => boolean = () => false;

  setDesired(desired: readonly DesiredWorker[], dataCenterId: string, isHeld: Workers['isHeld']): void {
    this.wanted.push([desired, dataCenterId]);
    this.told.push(['list']);
    this.isHeld = isHeld;
  }

  resume(workerIds: readonly WorkerId[]): void {
    if (workerIds.length > 0) this.told.push(workerIds);
  }

  observed(): readonly never[] {
    return [];
  }

  subscribe(listener: () => void): () => void {
    this.change = listener;
    return () => undefined;
  }
}

let clock: ManualClock;
let link: Link;
let workers: Workers;
let logs: FakeWorkerLogs;
let session: HostSession;
let looks: number;

beforeEach(() => {
  clock = new ManualClock();
  link = new Link();
  workers = new Workers();
  logs = new FakeWorkerLogs();
  const inventory = async (): Promise<Inventory> => {
    looks += 1;
    return INVENTORY;
  };
  looks = 0;
  session = new HostSession({
    secret: 's',
    instanceId: 'i',
    link,
    inventory,
    workers,
    volumes: NO_VOLUMES,
    logs,
    clock,
    logger: silentLogger,
  });
});

describe('HostSession', () => {
  test('reports at once and then every five seconds, each report with a higher number', async () => {
    session.start();
    await clock.advance(11_000);
    expect(link.reports.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
    const [first] = link.reports;
    const words = { secret: 's', instanceId: 'i', sequence: 1, inventory: INVENTORY, workers: [] };
    expect(first).toEqual({ ...words, sentAtMs: expect.any(Number) });
    expect(workers.wanted[0]).toEqual([[], 'EU-1']);
    await session.stop();
  });

  test('waits for the connection before its first report, for ten seconds at most, and for no other', async () => {
    const stands = Promise.withResolvers<void>();
    link.stands = stands.promise;
    session.start();
    await clock.advance(8_000);
    expect(link.reports).toEqual([]);
    stands.resolve();
    link.wake();
    await clock.advance(100);
    expect(link.reports).toHaveLength(1);
    await clock.advance(5_000);
    expect(link.reports).toHaveLength(2);
    expect(link.waits).toEqual([10_000]);
    await session.stop();
  });

  test('stops while it waits for the connection', async () => {
    link.stands = new Promise(() => undefined);
    session.start();
    await session.stop();
    expect([link.waits, link.reports]).toEqual([[10_000], []]);
  });

  test.each(['a change of a worker', 'a hint of the control plane'])('reports at once after %s', async (what) => {
    session.start();
    await clock.advance(1_000);
    if (what.startsWith('a change')) workers.change();
    else link.wake();
    await clock.advance(100);
    expect(link.reports).toHaveLength(2);
    await session.stop();
  });

  test('tells changes that come together in one report', async () => {
    session.start();
    await clock.advance(1_000);
    for (let change = 0; change < 20; change += 1) {
      workers.change();
      await clock.advance(2);
    }
    await clock.advance(100);
    expect(link.reports).toHaveLength(2);
    await session.stop();
  });

  test('asks at once when it is woken, also while it gathers changes', async () => {
    session.start();
    await clock.advance(1_000);
    const before = link.reports.length;
    link.wake();
    await letRun();
    expect(link.reports).toHaveLength(before + 1);
    workers.change();
    await letRun();
    expect(link.reports).toHaveLength(before + 1);
    link.wake();
    await letRun();
    expect(link.reports).toHaveLength(before + 2);
    await session.stop();
  });

  test('resumes whom a wake names before it asks, and an answer that was asked for before does not undo it', async () => {
    session.start();
    await clock.advance(1_000);
    link.wake('w1');
    expect(workers.told).toEqual([['list'], ['w1']]);
    link.meanwhile = () => {
      link.meanwhile = () => undefined;
      link.wake('w2');
    };
    await letRun();
    await clock.advance(1_000);
    // The answer to the report that was under way, and the one to the report that the second wake hurried.
    expect(workers.told.slice(2)).toEqual([['w2'], ['list'], ['w2'], ['list']]);
    await session.stop();
  });

  test('gathers what follows a wake that says all, and asks then', async () => {
    session.start();
    await clock.advance(1_000);
    link.wakeWith({ resumedIds: ['w1' as WorkerId], isAll: true });
    await letRun();
    expect(workers.told.at(-1)).toEqual(['w1']);
    expect(link.reports).toHaveLength(1);
    await clock.advance(100);
    expect(link.reports).toHaveLength(2);
    await session.stop();
  });

  test('looks at what it has for each report, but for one that is asked for right after another', async () => {
    session.start();
    await clock.advance(1_000);
    looks = 0;
    link.wake();
    await letRun();
    expect([link.reports.length, looks]).toEqual([2, 0]);
    expect(link.reports[1]?.inventory).toEqual(INVENTORY);
    workers.change();
    await clock.advance(100);
    expect([link.reports.length, looks]).toEqual([3, 1]);
    for (let wakes = 0; wakes < 3; wakes += 1) {
      await clock.advance(2_000);
      link.wake();
    }
    await clock.advance(0);
    expect(looks).toBe(2);
    await session.stop();
  });

  test('goes on while nobody answers, and leaves what was wanted as it was', async () => {
    session.start();
    await clock.advance(1_000);
    link.isAway = true;
    await clock.advance(30_000);
    expect(workers.wanted).toHaveLength(1);
    link.isAway = false;
    await clock.advance(5_000);
    expect(workers.wanted).toHaveLength(2);
    await session.stop();
  });

  test('names the endpoints whose logs are kept, and has those removed that are no more', async () => {
    logs.spooled = ['e8', 'e9'] as EndpointId[];
    link.reply = { desired: [], dataCenterId: 'LOCAL-1', deletedEndpointIds: ['e9'] };
    session.start();
    await clock.advance(100);
    expect(link.reports[0]?.spooledEndpointIds).toEqual(['e8', 'e9']);
    expect(logs.forgotten).toEqual(['e9']);
  });

  test('leaves what was wanted as it was when the answer says nothing of it, and complains once', async () => {
    const error = jest.fn();
    let unreadable = 0;
    const onUnreadable = (entries: number): void => void (unreadable += entries);
    const logger = { ...silentLogger, error };
    const inventory = async (): Promise<Inventory> => INVENTORY;
    session = new HostSession({
      secret: 's',
      instanceId: 'i',
      link,
      inventory,
      workers,
      volumes: NO_VOLUMES,
      logs,
      clock,
      logger,
      onUnreadable,
    });
    session.start();
    await clock.advance(1_000);
    for (const reply of [null, 'desired', {}, { desired: null, dataCenterId: 'EU-1' }]) {
      link.reply = reply;
      await clock.advance(5_000);
    }
    expect(workers.wanted).toHaveLength(1);
    expect(error).toHaveBeenCalledTimes(1);
    expect(unreadable).toBe(4);
    link.reply = { desired: [], dataCenterId: 'EU-2' };
    await clock.advance(5_000);
    expect(workers.wanted.at(-1)).toEqual([[], 'EU-2']);
    await session.stop();
  });

  test('hands on which volumes were deleted, and tells of which nothing is left', async () => {
    const named: unknown[] = [];
    const clearedIds: string[] = [];
    const volumes = { clearedIds, setDeleted: (deleted: unknown) => void named.push(deleted) };
    const inventory = async (): Promise<Inventory> => INVENTORY;
    const parts = {
      secret: 's',
      instanceId: 'i',
      link,
      inventory,
      workers,
      volumes,
      logs,
      clock,
      logger: silentLogger,
    };
    session = new HostSession(parts);
    link.reply = { desired: [], dataCenterId: 'EU-1', deletedVolumes: [{ id: 'v1', accountId: 'a1' }] };
    session.start();
    await clock.advance(1_000);
    expect(named).toEqual([[{ id: 'v1', accountId: 'a1' }]]);
    expect(link.reports.at(-1)).not.toHaveProperty('clearedVolumeIds');
    clearedIds.push('v1');
    link.reply = { desired: [], dataCenterId: 'EU-1' };
    await clock.advance(5_000);
    expect(link.reports.at(-1)).toMatchObject({ clearedVolumeIds: ['v1'] });
    expect(named.at(-1)).toEqual([]);
    await session.stop();
  });

  test.each<[string, unknown, boolean]>([
    ['names its worker', { workerId: 'w1' }, false],
    ['is null', null, true],
  ])('holds on to the worker of an entry that cannot be read and %s', async (_, entry, isOtherHeld) => {
    link.reply = { desired: [entry], dataCenterId: 'EU-1' };
    session.start();
    await clock.advance(1_000);
    expect(workers.wanted).toEqual([[[], 'EU-1']]);
    expect(workers.isHeld('w1' as WorkerId)).toBe(true);
    expect(workers.isHeld('w2' as WorkerId)).toBe(isOtherHeld);
    await session.stop();
  });

  test('says nothing after it was stopped', async () => {
    session.start();
    await clock.advance(1_000);
    await session.stop();
    await clock.advance(30_000);
    expect(link.reports).toHaveLength(1);
  });
});
