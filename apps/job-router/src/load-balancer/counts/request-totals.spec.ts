import type { RequestCountsMessage } from '@berth/contracts';
import type { EndpointId, RequestCounts } from '@berth/domain';
import { ManualClock } from '@berth/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { RequestTotals, type CountPeers } from './request-totals.js';

const A = 'a' as EndpointId;
const NONE: RequestCounts = { held: 0, inFlight: 0 };

let clock: ManualClock;
let routers: Map<string, RouterHere>;
let said: RequestCountsMessage[];

/** A router with what it has, and what it makes of what it hears. */
class RouterHere {
  counts = new Map<EndpointId, RequestCounts>();
  hear: (message: RequestCountsMessage) => void = () => undefined;
  readonly totals: RequestTotals;

  constructor(readonly routerId: string) {
    const peers: CountPeers = {
      tell: (endpoints) => {
        const message = { routerId, endpoints };
        said.push(message);
        for (const other of routers.values()) if (other !== this) other.hear(message);
      },
      listen: (onTold) => {
        this.hear = onTold;
        return () => (this.hear = () => undefined);
      },
    };
    const places = {
      endpointIds: () => [...this.counts.keys()],
      countsOf: (id: EndpointId) => this.counts.get(id) ?? NONE,
    };
    this.totals = new RequestTotals({ places, peers, clock });
    this.totals.start();
    routers.set(routerId, this);
  }
}

beforeEach(() => {
  clock = new ManualClock();
  [routers, said] = [new Map(), []];
});
afterEach(() => {
  for (const { totals } of routers.values()) totals.stop();
});

test('each router counts what all of them have, and its own at once', async () => {
  const [one, other] = [new RouterHere('r1'), new RouterHere('r2')];
  one.counts.set(A, { held: 1, inFlight: 2 });
  other.counts.set(A, { held: 4, inFlight: 8 });
  expect(one.totals.of(A)).toEqual({ held: 1, inFlight: 2 });
  await clock.advance(1_000);
  expect([one.totals.of(A), other.totals.of(A)]).toEqual([
    { held: 5, inFlight: 10 },
    { held: 5, inFlight: 10 },
  ]);
});

test('what is over is told once, and then nothing more', async () => {
  const [one, other] = [new RouterHere('r1'), new RouterHere('r2')];
  one.counts.set(A, { held: 0, inFlight: 1 });
  await clock.advance(1_000);
  one.counts.set(A, NONE);
  await clock.advance(1_000);
  expect(other.totals.of(A)).toEqual(NONE);
  const told = said.length;
  await clock.advance(3_000);
  expect(said).toHaveLength(told);
});

test('what a router has that died counts for some seconds only', async () => {
  const [dead, other] = [new RouterHere('dead'), new RouterHere('r2')];
  dead.counts.set(A, { held: 3, inFlight: 3 });
  await clock.advance(1_000);
  dead.totals.stop();
  await clock.advance(4_999);
  expect(other.totals.of(A)).toEqual({ held: 3, inFlight: 3 });
  await clock.advance(1);
  expect(other.totals.of(A)).toEqual(NONE);
});
