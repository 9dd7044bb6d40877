import { Duplex } from 'node:stream';
import type { AssignedWorker } from '@berth/contracts';
import { SlotLine, type EndpointId, type HostId, type WorkerId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { MetricRegistry, silentLogger } from '@berth/telemetry';
import { ManualClock, letRun } from '@berth/testing';
import type { LinkAnswer, LinkTarget, LinkWish, WorkerLink } from '@berth/tunnel';
import { afterEach, expect, test } from '@jest/globals';
import { loadBalancerMetrics } from '../../src/load-balancer/metrics.js';
import { Places } from '../../src/load-balancer/places/places.js';

const ENDPOINT = 'ep1' as EndpointId;
const WAIT_MS = 2_000;

interface Ask {
  readonly asker: Router;
  readonly settle: (answer: LinkAnswer) => void;
}

/** One worker's agent, as ADR 0069 has it, for routers that are all on this machine. */
class ModelAgent {
  readonly #clock: ManualClock;
  readonly #line = new SlotLine<Router, Ask>();
  readonly #slots: number;
  readonly requests: { readonly router: Router; readonly stream: Duplex }[] = [];
  mostInFlight = 0;

  constructor(clock: ManualClock, slots: number) {
    this.#clock = clock;
    this.#slots = slots;
  }

  linkOf(asker: Router): WorkerLink {
    return {
      open: async (_target: LinkTarget, signal: AbortSignal, { mayWait = false }: LinkWish = {}) => {
        if (this.requests.length < this.#slots) return this.#give(asker);
        return mayWait ? this.#wait(asker, signal) : { kind: 'refused', reason: 'full' };
      },
    };
  }

  #wait(asker: Router, signal: AbortSignal): Promise<LinkAnswer> {
    return new Promise((resolve) => {
      const settle = (answer: LinkAnswer): void => {
        disarm();
        this.#line.leave(ask);
        resolve(answer);
      };
      const ask: Ask = { asker, settle };
      const disarm = this.#clock.after(WAIT_MS, () => settle({ kind: 'refused', reason: 'full' }));
      signal.addEventListener('abort', () => settle({ kind: 'refused', reason: 'timed-out' }));
      if (!this.#line.enter(ask)) settle({ kind: 'refused', reason: 'full' });
    });
  }

  #give(router: Router): LinkAnswer {
    const stream = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
    const request = { router, stream };
    this.#line.given(router);
    this.requests.push(request);
    this.mostInFlight = Math.max(this.mostInFlight, this.requests.length);
    stream.once('close', () => {
      this.requests.splice(this.requests.indexOf(request), 1);
      this.#line.returned(router);
      const next = this.#line.next();
      next?.settle(this.#give(next.asker));
    });
    return { kind: 'admitted', stream };
  }
}

/** A router whose line is never empty. */
class Router {
  readonly places: Places;
  readonly #gone = new AbortController();
  served = 0;

  constructor(clock: ManualClock, agent: ModelAgent, slotsPerWorker: number) {
    const worker: AssignedWorker = {
      ...{ id: 'w1' as WorkerId, hostId: 'h1' as HostId },
      ...{ phase: 'idle', isDraining: false },
    };
    this.places = new Places({
      directory: {
        assignmentOf: () => ({ endpointId: ENDPOINT, workers: [worker], slotsPerWorker }),
        knownEndpoint: () => null,
        refreshAssignment: async () => undefined,
      },
      link: agent.linkOf(this),
      holdCall: () => () => undefined,
      pulse: { heardAtMs: Number.POSITIVE_INFINITY },
      ...{ clock, random: systemRandom, logger: silentLogger, holdMs: 120_000 },
      metrics: loadBalancerMetrics(new MetricRegistry()),
    });
  }

  ask(): void {
    const kind = { affinity: { kind: 'any' as const }, isKeyed: true, isPassing: false, noteAsk: null };
    const wish = { ...kind, bytes: 100, gone: this.#gone.signal };
    this.places.place(ENDPOINT, wish).then(
      (place) => {
        if (place === null) return;
        this.served += 1;
        this.ask();
      },
      () => undefined,
    );
  }

  leave(): void {
    this.#gone.abort();
    this.places.close();
  }
}

const routers: Router[] = [];
afterEach(() => {
  for (const router of routers.splice(0)) router.leave();
});

async function run({ count, rounds, slots }: { count: number; rounds: number; slots: number }): Promise<ModelAgent> {
  const clock = new ManualClock();
  const agent = new ModelAgent(clock, slots);
  for (let n = 0; n < count; n += 1) {
    const router = new Router(clock, agent, slots);
    routers.push(router);
    // The first has all slots before another one comes.
    for (let request = 0; request < slots + 3; request += 1) router.ask();
    await letRun();
  }
  for (let round = 0; round < rounds; round += 1) {
    await clock.advance(350);
    agent.requests[0]?.stream.destroy();
    await letRun();
  }
  return agent;
}

test.each([
  { count: 2, slots: 1, rounds: 60 },
  { count: 3, slots: 1, rounds: 60 },
  { count: 2, slots: 4, rounds: 80 },
  { count: 3, slots: 7, rounds: 80 },
])(
  '$count routers with full lines have equal shares of $slots slots of one worker',
  async ({ count, rounds, slots }) => {
    const agent = await run({ count, rounds, slots });
    expect(agent.mostInFlight).toBe(slots);
    expect(agent.requests).toHaveLength(slots);
    const served = routers.map((router) => router.served);
    // What the first had before the others came counts too.
    expect(Math.max(...served) - Math.min(...served)).toBeLessThanOrEqual(2 * slots);
    expect(Math.min(...served)).toBeGreaterThan(rounds / count / 2);
  },
);

test('a router whose line is empty waits for no slot, and takes none', async () => {
  const agent = await run({ count: 2, rounds: 4, slots: 1 });
  const [first, second] = routers as [Router, Router];
  second.leave();
  await letRun();
  const before = second.served;
  for (let round = 0; round < 6; round += 1) {
    agent.requests[0]?.stream.destroy();
    await letRun();
    expect(agent.requests.map(({ router }) => router)).toEqual([first]);
  }
  expect(second.served).toBe(before);
});
