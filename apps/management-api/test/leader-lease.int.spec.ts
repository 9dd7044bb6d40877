import { ManualClock, eventually, letRun } from '@berth/testing';
import { describe, expect, test } from '@jest/globals';
import { LeaderLease } from '../src/leadership/leader-lease.js';
import { useFleetBench } from './fleet-bench.js';

const bench = useFleetBench();

const LONG_MS = 3_600_000;
const SHORT_MS = 200;

/** By default on a clock of its own that stands still: trust does not run out. */
const leaseOf = (holder: string, leaseMs = LONG_MS, clock = new ManualClock()): LeaderLease =>
  new LeaderLease(bench.source, { name: 'controllers', holder, leaseMs, clock });

describe('the lease', () => {
  test('has one holder: another is refused while it runs, and its holder renews it within one term', async () => {
    const [first, second] = [leaseOf('first'), leaseOf('second')];
    expect(first.isLeader()).toBe(false);
    expect(await first.acquire()).toBe(true);
    expect(await second.acquire()).toBe(false);
    expect(await first.acquire()).toBe(true);
    expect([first.isLeader(), second.isLeader()]).toEqual([true, false]);
    expect(first.currentTerm().number).toBe(1);
  });

  test('of another name is another lease', async () => {
    await leaseOf('first').acquire();
    const clock = new ManualClock();
    const other = new LeaderLease(bench.source, { name: 'other', holder: 'second', leaseMs: LONG_MS, clock });
    expect(await other.acquire()).toBe(true);
  });

  test('is taken over when it has run out, in the next term, and the old holder learns it when it asks', async () => {
    const [first, second] = [leaseOf('first', SHORT_MS), leaseOf('second')];
    await first.acquire();
    await eventually(async () => expect(await second.acquire()).toBe(true));
    expect(second.currentTerm().number).toBe(2);
    expect(await first.acquire()).toBe(false);
    expect(first.isLeader()).toBe(false);
  });

  test('that has run out is won by one of many who ask at once', async () => {
    const first = leaseOf('first', SHORT_MS);
    await first.acquire();
    const rivals = Array.from({ length: 5 }, (_, index) => leaseOf(`rival-${index}`));
    await eventually(async () => {
      const won = await Promise.all(rivals.map((rival) => rival.acquire()));
      expect(won.filter(Boolean)).toHaveLength(1);
    });
    expect(rivals.filter((rival) => rival.isLeader())).toHaveLength(1);
  });

  test('is free at once when its holder gives it back; giving back what another holds changes nothing', async () => {
    const [first, second] = [leaseOf('first'), leaseOf('second')];
    await first.acquire();
    await second.release();
    expect(await second.acquire()).toBe(false);
    await first.release();
    expect(first.isLeader()).toBe(false);
    expect(await second.acquire()).toBe(true);
  });
});

describe('trust', () => {
  test('lasts four fifths of the lease', async () => {
    const clock = new ManualClock();
    const lease = leaseOf('first', 5_000, clock);
    await lease.acquire();
    await clock.advance(3_999);
    expect(lease.isLeader()).toBe(true);
    await clock.advance(1);
    expect(lease.isLeader()).toBe(false);
  });

  test('counts from before the question was sent, however long the answer took', async () => {
    const clock = new ManualClock();
    const lease = leaseOf('first', 5_000, clock);
    await lease.acquire();
    const blocker = bench.source.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('SELECT 1 FROM leader_leases FOR UPDATE');
    const renewal = lease.acquire();
    await letRun();
    await clock.advance(3_000);
    await blocker.commitTransaction();
    await blocker.release();
    await renewal;
    await clock.advance(999);
    expect(lease.isLeader()).toBe(true);
    await clock.advance(1);
    expect(lease.isLeader()).toBe(false);
  });

  test('of a term ends with it and does not come back with a later one of the same holder', async () => {
    const clock = new ManualClock();
    const lease = leaseOf('first', 5_000, clock);
    await lease.acquire();
    const term = lease.currentTerm();
    expect(term.isOver()).toBe(false);
    await lease.release();
    expect(term.isOver()).toBe(true);
    await leaseOf('second').acquire();
    await bench.source.query("UPDATE leader_leases SET expires_at = now() - interval '1 s'");
    expect(await lease.acquire()).toBe(true);
    expect(lease.currentTerm().number).toBe(3);
    expect([term.isOver(), lease.currentTerm().isOver()]).toEqual([true, false]);
  });
});
