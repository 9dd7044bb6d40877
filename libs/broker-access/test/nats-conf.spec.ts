import { describe, expect, test } from '@jest/globals';
import { renderNatsConf, type NatsConf } from '../src/nats-conf.js';
import { createNatsKeys, publicNatsKeys } from '../src/nats-keys.js';
import { rolePermissions } from '../src/role-permissions.js';

const OPEN: NatsConf = {
  storeFolder: '/state/with "quotes"',
  portsFolder: '/state',
  listener: { host: '127.0.0.1', port: 4222 },
  monitor: { host: '127.0.0.1', port: 8222 },
  tls: null,
  fileStoreMaxBytes: 1,
  memoryStoreMaxBytes: 2,
  auth: { kind: 'none' },
};

describe('the configuration of a nats-server', () => {
  test('syncs every write and listens on loopback only', () => {
    const text = renderNatsConf(OPEN);
    expect(text).toContain('sync_interval: always');
    expect(text).toContain('listen: "127.0.0.1:4222"');
    expect(text).toContain('http: "127.0.0.1:8222"');
    expect(text).toContain('store_dir: "/state/with \\"quotes\\""');
    expect(text).not.toContain('accounts');
  });

  test('names its peers, who show each other certificates', () => {
    const tls = { certFile: '/tls/tls.crt', keyFile: '/tls/tls.key', caFile: '/tls/ca.crt' };
    const addresses = ['one:6222', 'two:6222'];
    const peers = { name: 'one', address: 'one:6222', listener: { host: '0.0.0.0', port: 6222 }, addresses, tls };
    const text = renderNatsConf({ ...OPEN, peers });
    expect(text).toContain('server_name: "one"');
    expect(text).toContain('listen: "0.0.0.0:6222"');
    expect(text).toContain('"nats-route://one:6222", "nats-route://two:6222"');
    // Or they would tell each other on by the addresses that they see, which no certificate is for.
    expect(text).toContain('advertise: "one:6222"');
    expect(text).toContain('verify: true');
    expect(renderNatsConf(OPEN)).not.toContain('cluster');
  });

  test('says nothing before TLS where there is a certificate', () => {
    const tls = { certFile: '/tls/tls.crt', keyFile: '/tls/tls.key', caFile: '/tls/ca.crt' };
    expect(renderNatsConf({ ...OPEN, tls })).toContain('handshake_first: true');
    expect(renderNatsConf(OPEN)).not.toContain('tls');
  });

  test('never holds a secret', () => {
    const keys = createNatsKeys();
    const text = renderNatsConf({ ...OPEN, auth: { kind: 'roles', keys: publicNatsKeys(keys) } });
    for (const seed of [keys.issuer, ...Object.values(keys.roles)]) expect(text).not.toContain(seed);
  });
});

describe('the permissions of roles', () => {
  const roles = rolePermissions({ logs: 2, payloads: 3, cursors: 2 });

  test('name every stream, because a star inside a name is no wildcard', () => {
    const created = roles.router.publish.filter((subject) => subject.startsWith('$JS.API.STREAM.CREATE.'));
    expect(created.map((subject) => subject.split('.').at(-1))).toEqual([
      'LOG_0',
      'LOG_1',
      'OUT_0',
      'OUT_1',
      'OUT_2',
      'BLOB_0',
      'BLOB_1',
      'BLOB_2',
      'CURSOR_0',
      'CURSOR_1',
      'KV_shards',
    ]);
  });

  test.each(Object.keys(roles) as (keyof typeof roles)[])(
    'of %s grant neither everything nor the common inbox',
    (role) => {
      const granted = [...roles[role].publish, ...roles[role].subscribe];
      for (const subject of granted) {
        expect(['>', '*', '_INBOX.>', '$JS.API.>', '$SYS.>', '$KV.>', '$JS.ACK.>']).not.toContain(subject);
        expect(subject).not.toMatch(/[^.]\*|\*[^.]/);
      }
    },
  );
});
