import { describe, expect, test } from '@jest/globals';
import { WebhookAddresses } from './webhook-addresses.js';

const open = new WebhookAddresses();

describe('where a webhook may go', () => {
  test.each([
    'https://example.com/hook?token=1',
    'http://example.com:8080',
    'http://8.8.8.8/',
    'http://100.63.255.255/',
    'http://100.128.0.1/',
    'http://172.15.0.1/',
    'http://172.32.0.1/',
    'http://223.255.255.255/',
    'http://[2606:4700:4700::1111]/',
    'http://localhost.example.com/',
    // A name is looked up when it is called.
    'http://localhost/',
  ])('%s', (url) => {
    expect(open.refusalOfUrl(url)).toBeNull();
  });

  test.each([
    ['http://127.0.0.1/', 'loopback'],
    ['http://127.1/', 'loopback'],
    ['http://2130706433/', 'loopback'],
    ['http://0x7f.0.0.1/', 'loopback'],
    ['http://0177.0.0.1/', 'loopback'],
    ['http://127.0.0.1./', 'loopback'],
    ['http://%31%32%37.0.0.1/', 'loopback'],
    ['http://１２７.0.0.1/', 'loopback'],
    ['http://0.0.0.0/', 'unspecified'],
    ['http://10.1.2.3/', 'private'],
    ['http://172.16.0.1/', 'private'],
    ['http://192.168.1.1/', 'private'],
    ['http://100.64.0.1/', 'carrier-grade NAT'],
    ['http://169.254.169.254/latest/meta-data', 'link-local'],
    ['http://192.0.2.1/', 'documentation'],
    ['http://224.0.0.1/', 'multicast'],
    ['http://255.255.255.255/', 'reserved'],
    ['http://[::]/', 'unspecified'],
    ['http://[::1]/', 'loopback'],
    ['http://[0:0:0:0:0:0:0:1]/', 'loopback'],
    ['http://[::ffff:127.0.0.1]/', 'IPv4-carrying'],
    ['http://[::ffff:8.8.8.8]/', 'IPv4-carrying'],
    ['http://[::127.0.0.1]/', 'reserved'],
    ['http://[64:ff9b::7f00:1]/', 'IPv4-carrying'],
    ['http://[64:ff9b:1::1]/', 'reserved'],
    ['http://[2002:7f00:1::]/', 'IPv4-carrying'],
    ['http://[2001:0:7f00:1::]/', 'reserved'],
    ['http://[2001:db8::1]/', 'documentation'],
    ['http://[fd00::1]/', 'private'],
    ['http://[fe80::1]/', 'link-local'],
    ['http://[ff02::1]/', 'multicast'],
    ['http://[4000::1]/', 'reserved'],
    ['http://user@example.com/', 'user name'],
    ['http://:word@example.com/', 'user name'],
    ['ftp://example.com/', 'http or https'],
    ['file:///etc/passwd', 'http or https'],
    ['javascript:alert(1)', 'http or https'],
    ['/hook', 'http or https'],
    ['http://', 'http or https'],
    ['http://1.2.3.4.5/', 'http or https'],
    ['', 'http or https'],
  ])('not %s: %s', (url, reason) => {
    expect(open.refusalOfUrl(url)).toContain(reason);
  });

  test('an address with a zone, or no address at all, cannot be checked', () => {
    expect(open.refusalOf('fe80::1%eth0')).toContain('checked');
    expect(open.refusalOf('2606:4700::1%1')).toContain('checked');
    expect(open.refusalOf('example.com')).toContain('checked');
  });

  test('what the operator has opened, and nothing beside it', () => {
    const opened = new WebhookAddresses(['127.0.0.0/8', '::1/128', '10.1.0.0/16']);
    expect(opened.refusalOfUrl('http://127.0.0.1:9/')).toBeNull();
    expect(opened.refusalOfUrl('http://[::1]/')).toBeNull();
    expect(opened.refusalOf('10.1.2.3')).toBeNull();
    expect(opened.refusalOf('10.2.2.3')).toContain('private');
    // The mapped form of an address that is open stays shut: nothing needs it.
    expect(opened.refusalOf('::ffff:127.0.0.1')).not.toBeNull();
  });

  test('opening all of one family opens nothing of the other', () => {
    expect(new WebhookAddresses(['::/0']).refusalOf('127.0.0.1')).toContain('loopback');
    expect(new WebhookAddresses(['0.0.0.0/0']).refusalOf('::1')).toContain('loopback');
  });

  test.each(['10.0.0.0', '10.0.0.0/33', '10.0.0/8', 'fd00::/129', 'example.com/8', '/8', '10.0.0.0/-1', 'fe80::%1/10'])(
    'no network is %j',
    (text) => {
      expect(() => new WebhookAddresses([text])).toThrow(RangeError);
    },
  );
});
