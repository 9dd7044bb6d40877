import { ConfigReader } from '@berth/lifecycle';
import { expect, test } from '@jest/globals';
import { TrustedProxies, readTrustedProxies } from './trusted-proxies.js';

test.each([
  ['10.1.2.3', true],
  ['::ffff:10.1.2.3', true],
  ['11.1.2.3', false],
  ['192.0.2.7', true],
  ['192.0.2.8', false],
  ['fd00::1', true],
  ['fe80::1', false],
  ['nonsense', false],
  ['', false],
])('%s: %s', (address, isTrusted) => {
  expect(new TrustedProxies(['10.0.0.0/8', '192.0.2.7', 'fd00::/8']).has(address)).toBe(isTrusted);
});

test('nobody is trusted unless said', () => {
  expect(readTrustedProxies(new ConfigReader({})).has('127.0.0.1')).toBe(false);
  expect(readTrustedProxies(new ConfigReader({ BERTH_TRUSTED_PROXIES: '127.0.0.0/8, ::1' })).has('::1')).toBe(true);
});

test.each(['10.0.0.0/33', 'fd00::/129', 'proxy.example.com', '10.0.0.0/'])(
  '%s is a problem of the settings',
  (text) => {
    const read = new ConfigReader({ BERTH_TRUSTED_PROXIES: text });
    readTrustedProxies(read);
    expect(read.problems).toEqual([expect.stringContaining('BERTH_TRUSTED_PROXIES must be networks like 10.0.0.0/8')]);
  },
);
