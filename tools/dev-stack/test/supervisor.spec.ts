import { describe, expect, test } from '@jest/globals';
import type { ServerExit } from '@berth/servers';
import { ManualClock, letRun } from '@berth/testing';
import { Supervisor, type Running } from '../src/supervisor.js';

/** A supervised process whose every life ends as the test says. */
class Lives {
  readonly clock = new ManualClock();
  readonly givenUp: string[] = [];
  readonly said: string[] = [];
  stopped = 0;
  refusal: string | null = null;
  #end: (exit: ServerExit) => void = () => undefined;
  #count = 0;
  readonly supervisor: Supervisor;

  constructor() {
    this.supervisor = new Supervisor('job-router', '/logs/job-router.log', {
      clock: this.clock,
      say: (line) => this.said.push(line),
      onPid: () => Promise.resolve(),
      onGiveUp: (reason) => this.givenUp.push(reason),
      start: () => Promise.resolve(this.#begin()),
    });
  }

  get count(): number {
    return this.#count;
  }

  async end(exit: Partial<ServerExit>): Promise<void> {
    this.#end({ code: null, signal: null, ...exit });
    await letRun();
    await this.clock.advance(200);
    await letRun();
  }

  #begin(): Running {
    this.#count += 1;
    const exited = new Promise<ServerExit>((resolve) => (this.#end = resolve));
    return {
      pid: this.#count,
      exited,
      stop: () => {
        this.stopped += 1;
        this.#end({ code: 0, signal: null });
        return Promise.resolve();
      },
      whyRefused: () => Promise.resolve(this.refusal),
    };
  }
}

describe('a process that ends before it was ever ready', () => {
  test('with a sentence of its own about its settings is not started again', async () => {
    const lives = new Lives();
    await lives.supervisor.start();
    lives.refusal = 'job-router: Bad settings:\n  BERTH_X is missing';
    await lives.end({ code: 1 });
    expect(lives.givenUp).toEqual([lives.refusal]);
    expect([lives.count, lives.said]).toEqual([1, []]);
  });

  test('without one is started again', async () => {
    const lives = new Lives();
    await lives.supervisor.start();
    await lives.end({ code: 1 });
    await lives.end({ signal: 'SIGKILL' });
    expect([lives.count, lives.givenUp]).toEqual([3, []]);
  });
});

test('a process that was ready once is started again whatever it says', async () => {
  const lives = new Lives();
  await lives.supervisor.start();
  lives.supervisor.markReady();
  lives.refusal = 'job-router: No broker answered.';
  await lives.end({ code: 1 });
  expect([lives.count, lives.givenUp]).toEqual([2, []]);
});

test('a process that is still being started when the stack stops is stopped, too', async () => {
  const lives = new Lives();
  const started = lives.supervisor.start();
  const stopped = lives.supervisor.stop();
  await Promise.all([started, stopped]);
  expect(lives.stopped).toBe(1);
});
