import type { IncomingMessage } from 'node:http';
import { expect, test } from '@jest/globals';
import { addressBehind } from './caller-address.js';
import { TrustedProxies } from './trusted-proxies.js';

const PROXIES = new TrustedProxies(['10.0.0.0/8']);

const requestOf = (remoteAddress: string | undefined, forwardedFor: string | undefined): IncomingMessage =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwardedFor } }) as unknown as IncomingMessage;

test.each([
  ['192.0.2.1', undefined, '192.0.2.1'],
  ['192.0.2.1', '203.0.113.9', '192.0.2.1'],
  ['10.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['10.0.0.1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
  ['10.0.0.1', '203.0.113.9, 10.0.0.2', '203.0.113.9'],
  ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ['10.0.0.1', 'nonsense', '10.0.0.1'],
  ['10.0.0.1', '::ffff:203.0.113.9', '203.0.113.9'],
  ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
  ['::ffff:192.0.2.1', '203.0.113.9', '192.0.2.1'],
  ['::FFFF:192.0.2.1', undefined, '192.0.2.1'],
  ['2001:db8::1', undefined, '2001:db8::1'],
  [undefined, '203.0.113.9', undefined],
])('a request from %s for %s is that of %s', (peer, forwardedFor, address) => {
  expect(addressBehind(requestOf(peer, forwardedFor), PROXIES)).toBe(address);
});
