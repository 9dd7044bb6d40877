import { describe, expect, test } from '@jest/globals';
import { createNatsKeys, publicNatsKeys, renderNatsConf, rolePermissions, type NatsConf } from '../src/index.js';
import { isNatsVersionEnough, parseNatsVersion } from '../src/nats/nats-release.js';

const OPEN: NatsConf = {
  storeFolder: '/state/with "quotes"',
  portsFolder: '/state',
  port: 4222,
  httpPort: 8222,
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

  test('names the others of its cluster, on loopback only', () => {
    const text = renderNatsConf({ ...OPEN, cluster: { name: 'one', port: 6001, peerPorts: [6001, 6002, 6003] } });
    expect(text).toContain('server_name: "one"');
    expect(text).toContain('listen: "127.0.0.1:6001"');
    expect(text).toContain('"nats-route://127.0.0.1:6002", "nats-route://127.0.0.1:6003"');
    expect(renderNatsConf(OPEN)).not.toContain('cluster');
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

describe('the version of a nats-server', () => {
  test.each([
    ['nats-server: v2.15.1', true],
    ['nats-server: v2.16.0-RC.1', true],
    ['nats-server: v3.0.0', true],
    ['nats-server: v2.14.9', false],
    ['nats-server: v1.99.0', false],
  ])('%s is enough: %s', (printed, isEnough) => {
    const version = parseNatsVersion(printed);
    expect(version !== undefined && isNatsVersionEnough(version)).toBe(isEnough);
  });

  test('that cannot be read is none', () => {
    expect(parseNatsVersion('command not found')).toBeUndefined();
  });
});
