import type { TunnelOfferMessage } from '@berth/contracts';
import type { HostId } from '@berth/domain';
import { systemRandom } from '@berth/lifecycle';
import { MetricRegistry, NO_TRACES, silentLogger } from '@berth/telemetry';
import { ManualClock, eventually } from '@berth/testing';
import { TunnelDialer, TunnelListener } from '@berth/tunnel';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { TunnelOffers } from './tunnel-offers.js';

const HOST = 'host1' as HostId;

let clock: ManualClock;
let listener: TunnelListener;
let offers: TunnelOffers;
let told: TunnelOfferMessage[];
let dialer: TunnelDialer;

beforeEach(async () => {
  [clock, told] = [new ManualClock(), []];
  const parts = { clock, logger: silentLogger };
  listener = new TunnelListener({ ...parts, metrics: new MetricRegistry(), onChange: () => offers.hurry() });
  const port = await listener.listen('127.0.0.1', 0);
  const link = { open: async () => ({ kind: 'refused', reason: 'full' }) as const };
  dialer = new TunnelDialer({ ...parts, hostId: HOST, link, metrics: new MetricRegistry(), traces: NO_TRACES });
  offers = new TunnelOffers({
    ...{ ...parts, listener, random: systemRandom, router: 'r1', address: { host: '127.0.0.1', port } },
    hosts: () => [HOST, HOST],
    tell: (_, offer) => told.push(offer),
  });
  offers.start();
  await eventually(() => expect(told).toHaveLength(1));
});

afterEach(async () => {
  await offers.stop();
  dialer.close();
  await listener.close();
});

const accept = (offer: TunnelOfferMessage | undefined): void => {
  if (offer === undefined) throw new Error('there is no such offer');
  dialer.accept({ ...offer, key: Buffer.from(offer.key, 'base64url') });
};

test('a host that did not hear an offer hears it again two seconds later, and the first is as good as the second', async () => {
  await clock.advance(2_000);
  await eventually(() => expect(told).toHaveLength(2));
  expect(told[1]).toEqual(told[0]);
  accept(told[0]);
  await eventually(() => expect(listener.hasTunnel(HOST)).toBe(true));
  await clock.advance(4_000);
  expect(told).toHaveLength(2);
});

test('news of assignments, however many, are no reason to tell a host twice', async () => {
  for (let n = 0; n < 10; n += 1) {
    offers.hurry();
    await clock.advance(50);
  }
  expect(told).toHaveLength(1);
});

test('an offer that was not taken up in time is followed by another one', async () => {
  for (let n = 0; n < 8; n += 1) await clock.advance(2_000);
  await eventually(() => expect(new Set(told.map(({ ticket }) => ticket)).size).toBe(2));
});

test('a host whose tunnel is lost is told at once', async () => {
  accept(told[0]);
  await eventually(() => expect(listener.hasTunnel(HOST)).toBe(true));
  dialer.close();
  await eventually(() => expect(listener.hasTunnel(HOST)).toBe(false));
  await clock.advance(50);
  await eventually(() => expect(told).toHaveLength(2));
  expect(told[1]?.ticket).not.toBe(told[0]?.ticket);
});
