import { describe, expect, test } from '@jest/globals';
import type { WorkerId } from '@berth/domain';
import { ManualClock, letRun } from '@berth/testing';
import { BodyQueue, type BodyMemory } from './body-queue.js';

const NEVER = new AbortController().signal;

class Bench {
  readonly clock = new ManualClock();
  readonly budget = new BodyQueue({ workerBytesMax: 80, hostBytesMax: 100 }, this.clock);
  readonly admitted: string[] = [];

  ask(name: string, bytes: number, gone = NEVER): BodyMemory {
    const room = this.budget.roomFor((name[0] ?? '') as WorkerId, gone);
    void room.admit(bytes).then((isAdmitted) => this.admitted.push(isAdmitted ? name : `no ${name}`));
    return room;
  }
}

describe('the memory for bodies', () => {
  test('gives a worker its share and no more, however much is left', async () => {
    const bench = new Bench();
    const first = bench.ask('a1', 40);
    bench.ask('a2', 40);
    bench.ask('a3', 20);
    await letRun();
    expect(bench.admitted).toEqual(['a1', 'a2']);
    first.release();
    await letRun();
    expect(bench.admitted).toEqual(['a1', 'a2', 'a3']);
    expect(bench.budget.heldBytes).toBe(60);
  });

  test('serves workers in turn: one that asks for much does not come before others', async () => {
    const bench = new Bench();
    const held = bench.ask('x', 80);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1']) bench.ask(name, 30);
    await letRun();
    held.release();
    await letRun();
    expect(bench.admitted).toEqual(['x', 'a1', 'b1', 'c1']);
  });

  test('lets nobody overtake the one that is next and needs much', async () => {
    const bench = new Bench();
    const held = bench.ask('x', 50);
    bench.ask('a', 60);
    bench.ask('b', 10);
    await letRun();
    expect(bench.admitted).toEqual(['x']);
    held.release();
    await letRun();
    expect(bench.admitted).toEqual(['x', 'a', 'b']);
  });

  test('takes what hardly comes away from a body that holds it, once somebody waits for it', async () => {
    const bench = new Bench();
    const stalled = bench.ask('a', 80);
    const steady = bench.ask('b', 20);
    await letRun();
    stalled.noteArrived(70);
    steady.noteArrived(60_000_000);
    await bench.clock.advance(60_000);
    bench.budget.watch();
    expect(stalled.slow.aborted).toBe(false);
    bench.ask('c', 80);
    bench.budget.watch();
    expect([stalled.slow.aborted, steady.slow.aborted]).toEqual([true, false]);
    stalled.release();
    await letRun();
    expect(bench.admitted).toEqual(['a', 'b', 'c']);
  });

  test('does not count the time that the agent itself needs for a body', async () => {
    const bench = new Bench();
    const whole = bench.ask('a', 80);
    await letRun();
    whole.noteWhole();
    bench.ask('b', 80);
    await bench.clock.advance(60_000);
    bench.budget.watch();
    expect(whole.slow.aborted).toBe(false);
  });

  test('forgets a sender that hangs up while it waits, and gives back what came too late for it', async () => {
    const bench = new Bench();
    const held = bench.ask('x', 80);
    const gone = new AbortController();
    bench.ask('a', 80, gone.signal);
    const over = bench.ask('b', 80);
    over.release();
    await letRun();
    gone.abort();
    held.release();
    await letRun();
    expect(bench.admitted).toEqual(['x', 'no a', 'no b']);
    expect(bench.budget.heldBytes).toBe(0);
  });

  test('gives room back once, however often it is released', async () => {
    const bench = new Bench();
    const room = bench.ask('a', 40);
    bench.ask('b', 40);
    await letRun();
    room.release();
    room.release();
    expect(bench.budget.heldBytes).toBe(40);
  });
});
