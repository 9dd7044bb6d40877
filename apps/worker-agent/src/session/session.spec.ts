import type { DesiredWorker, HostReply, ReportRequest } from '@berth/contracts';
import type { Inventory } from '@berth/domain';
import { silentLogger } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { SessionService } from './session.service.js';

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
  wake: () => void = () => undefined;

  async report(request: ReportRequest): Promise<HostReply> {
    this.reports.push(request);
    if (this.isAway) throw new Error('nobody answers');
    return { desired: [], dataCenterId: 'EU-1' };
  }

  onWake(listener: () => void): () => void {
    this.wake = listener;
    return () => undefined;
  }
}

class Workers {
  readonly wanted: [readonly DesiredWorker[], string][] = [];
  change: () => void = () => undefined;

  setDesired(desired: readonly DesiredWorker[], dataCenterId: string): void {
    this.wanted.push([desired, dataCenterId]);
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
let session: SessionService;

beforeEach(() => {
  clock = new ManualClock();
  link = new Link();
  workers = new Workers();
  const inventory = async (): Promise<Inventory> => INVENTORY;
  session = new SessionService({ secret: 's', instanceId: 'i', link, inventory, workers, clock, logger: silentLogger });
});

describe('SessionService', () => {
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
    expect(link.reports.length).toBeLessThanOrEqual(3);
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

  test('says nothing after it was stopped', async () => {
    session.start();
    await clock.advance(1_000);
    await session.stop();
    await clock.advance(30_000);
    expect(link.reports).toHaveLength(1);
  });
});
