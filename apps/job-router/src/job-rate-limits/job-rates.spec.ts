import type { RateNews } from '@berth/contracts';
import type { EndpointId, JobOperation, PlatformError } from '@berth/domain';
import { MetricRegistry } from '@berth/telemetry';
import { ManualClock } from '@berth/testing';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { JobRates } from './job-rates.js';
import { rateMetrics } from './metrics.js';
import { RateCounters } from './rate-counters.js';
import { BATCH_MS, BEAT_MS, RateExchange, SILENT_MS } from './rate-exchange.js';

const ENDPOINT = 'e1' as EndpointId;
const clock = new ManualClock();

/** Tells every router but the sender, at once or not at all. */
class Bus {
  isBroken = false;
  messages = 0;
  readonly #listeners = new Map<string, (routerId: string, news: readonly RateNews[]) => void>();

  peersOf(routerId: string) {
    return {
      tell: (news: readonly RateNews[]) => {
        this.messages += 1;
        if (this.isBroken) return;
        for (const [id, listener] of this.#listeners) if (id !== routerId) listener(routerId, structuredClone(news));
      },
      listen: (listener: (routerId: string, news: readonly RateNews[]) => void) => {
        this.#listeners.set(routerId, listener);
        return () => void this.#listeners.delete(routerId);
      },
    };
  }
}

class TestRouter {
  readonly counters: RateCounters;
  readonly exchange: RateExchange;
  readonly rates: JobRates;
  readyWorkers = 0;

  constructor(bus: Bus, routerId: string, { isOn = true, countersMax = 1_000 } = {}) {
    this.counters = new RateCounters(countersMax);
    this.exchange = new RateExchange({ counters: this.counters, peers: bus.peersOf(routerId), clock });
    this.rates = new JobRates({
      settings: { isOn, requestsPerWorker: 50 },
      exchange: this.exchange,
      readyWorkers: () => this.readyWorkers,
      refusals: rateMetrics(new MetricRegistry(), this.counters),
      clock,
    });
    this.exchange.start();
  }

  /** Sends so many requests, each answered at once; returns how many got in. */
  send(operation: JobOperation, count: number, endpointId = ENDPOINT): number {
    let admitted = 0;
    for (let n = 0; n < count; n += 1) {
      const end = this.begin(operation, endpointId);
      if (end === null) continue;
      admitted += 1;
      end();
    }
    return admitted;
  }

  begin(operation: JobOperation, endpointId = ENDPOINT): (() => void) | null {
    try {
      return this.rates.begin(endpointId, operation);
    } catch {
      return null;
    }
  }

  refusal(operation: JobOperation): PlatformError {
    return refusalOf(() => this.rates.begin(ENDPOINT, operation));
  }
}

function refusalOf(ask: () => unknown): PlatformError {
  try {
    ask();
  } catch (error) {
    return error as PlatformError;
  }
  throw new Error('it was admitted');
}

let bus: Bus;
beforeEach(() => {
  bus = new Bus();
});

describe('one router', () => {
  test('admits each operation up to its limit, and each endpoint apart', () => {
    const router = new TestRouter(bus, 'r1');
    expect(router.send('run', 1_100)).toBe(1_000);
    expect(router.send('cancel', 200)).toBe(100);
    expect(router.send('purge-queue', 3)).toBe(2);
    expect(router.send('requests', 11)).toBe(10);
    expect(router.send('run', 1, 'e2' as EndpointId)).toBe(1);
  });

  test('says when there is room again, and then there is', async () => {
    const router = new TestRouter(bus, 'r1');
    expect(router.send('run', 400)).toBe(400);
    await clock.advance(2_500);
    expect(router.send('run', 1_000)).toBe(600);
    const refusal = router.refusal('run');
    expect(refusal.code).toBe('rate-limited');
    expect(refusal.retryAfterSeconds).toBe(8);
    expect(refusal.message).toBe(
      'Too many run requests to this endpoint: it takes 1000 in 10 seconds. Try again in 8 s.',
    );
    await clock.advance(8_000);
    expect(router.send('run', 1_000)).toBe(400);
  });

  test('a request is in flight until it ends, once', () => {
    const router = new TestRouter(bus, 'r1');
    const held = Array.from({ length: 21 }, () => router.begin('cancel'));
    expect(held.filter((end) => end !== null)).toHaveLength(20);
    const refusal = router.refusal('cancel');
    expect(refusal.message).toContain('20 in flight at one time');
    expect(refusal.retryAfterSeconds).toBe(1);
    held[0]?.();
    held[0]?.();
    expect(router.begin('cancel')).not.toBeNull();
    expect(router.begin('cancel')).toBeNull();
  });

  test('ready workers raise both limits', () => {
    const router = new TestRouter(bus, 'r1');
    router.readyWorkers = 30;
    expect(router.send('run', 2_000)).toBe(1_500);
    const held = Array.from({ length: 400 }, () => router.begin('run', 'e2' as EndpointId));
    expect(held.filter((end) => end !== null)).toHaveLength(300);
  });

  test('a list of jobs counts each of them, all or none', () => {
    const router = new TestRouter(bus, 'r1');
    const held = Array.from({ length: 200 }, () => router.begin('run'));
    router.rates.countMore(ENDPOINT, 'run', 799);
    for (const end of held) end?.();
    expect(() => router.rates.countMore(ENDPOINT, 'run', 2)).toThrow('1000 in 10 seconds');
    expect(router.send('run', 5)).toBe(1);
  });

  test('the largest list gets in once it has waited as long as was said', async () => {
    const router = new TestRouter(bus, 'r1');
    const list = (): void => {
      router.begin('run')?.();
      router.rates.countMore(ENDPOINT, 'run', 999);
    };
    router.send('run', 1);
    await clock.advance(3_000);
    await clock.advance((refusalOf(list).retryAfterSeconds ?? 0) * 1_000);
    expect(list).not.toThrow();
  });

  test('forgets what counts nothing any more, and never holds more counters than it may', async () => {
    const router = new TestRouter(bus, 'r1', { countersMax: 5 });
    for (let n = 0; n < 20; n += 1) router.send('run', 1, `e${n}` as EndpointId);
    expect(router.counters.size).toBe(5);
    await clock.advance(10_000 + 2 * BEAT_MS);
    expect(router.counters.size).toBe(0);
  });

  test('that is told to limit nothing counts nothing', () => {
    const router = new TestRouter(bus, 'r1', { isOn: false });
    expect(router.send('purge-queue', 1_000)).toBe(1_000);
    expect(router.counters.size).toBe(0);
  });

  test('alone says nothing but that it is there', async () => {
    const router = new TestRouter(bus, 'r1');
    router.send('run', 1_000);
    await clock.advance(5 * BEAT_MS);
    expect(bus.messages).toBe(1 + 5);
  });
});

describe('several routers', () => {
  test('count small limits exactly, one request after the other', () => {
    const [first, second] = [new TestRouter(bus, 'r1'), new TestRouter(bus, 'r2')];
    const admitted = Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? first : second).send('requests', 1));
    expect(admitted.reduce((sum, each) => sum + each, 0)).toBe(10);
  });

  test('admit together at most a fiftieth of a limit more for each other router', () => {
    const routers = ['r1', 'r2', 'r3'].map((id) => new TestRouter(bus, id));
    const admitted = routers.map((router) => router.send('run', 2_000)).reduce((sum, each) => sum + each, 0);
    expect(admitted).toBeGreaterThanOrEqual(1_000);
    expect(admitted).toBeLessThanOrEqual(1_000 + 2 * (1_000 / 50));
  });

  test('know after one batch what the others admitted and hold', async () => {
    const [first, second] = [new TestRouter(bus, 'r1'), new TestRouter(bus, 'r2')];
    const held = Array.from({ length: 199 }, () => first.begin('run'));
    await clock.advance(BATCH_MS);
    expect([second.begin('run'), second.begin('run')].map((end) => end !== null)).toEqual([true, false]);
    for (const end of held) end?.();
    await clock.advance(BATCH_MS);
    expect(second.send('run', 2_000)).toBe(1_000 - 199 - 1);
  });

  test('tell a router that comes later what they hold', async () => {
    const first = new TestRouter(bus, 'r1');
    for (let n = 0; n < 200; n += 1) first.begin('run');
    const second = new TestRouter(bus, 'r2');
    await clock.advance(BATCH_MS);
    expect(second.refusal('run').message).toContain('in flight');
  });

  test('keep hearing of what is held for long, and forget it when its router falls silent', async () => {
    const [first, second] = [new TestRouter(bus, 'r1'), new TestRouter(bus, 'r2')];
    for (let n = 0; n < 200; n += 1) first.begin('run');
    await clock.advance(30 * BEAT_MS);
    expect(second.refusal('run').message).toContain('in flight');
    bus.isBroken = true;
    await clock.advance(SILENT_MS + 2 * BEAT_MS);
    expect(second.send('run', 1_001)).toBe(1_000);
  });

  test('what a silent router admitted ages out by itself', async () => {
    const [first, second] = [new TestRouter(bus, 'r1'), new TestRouter(bus, 'r2')];
    expect(first.send('run', 1_000)).toBe(1_000);
    await clock.advance(BATCH_MS);
    bus.isBroken = true;
    first.exchange.stop();
    await clock.advance(5_000);
    expect(second.send('run', 1)).toBe(0);
    await clock.advance(5_200);
    expect(second.send('run', 1_001)).toBe(1_000);
  });

  test('send a bounded number of messages, whatever comes in', async () => {
    const router = new TestRouter(bus, 'r1');
    new TestRouter(bus, 'r2').exchange.stop();
    const before = bus.messages;
    router.send('run', 10_000);
    await clock.advance(BATCH_MS);
    expect(bus.messages - before).toBeLessThanOrEqual(50 + 1);
  });
});
