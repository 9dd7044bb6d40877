import { hashApiKey } from '@berth/http';
import { describe, expect, test } from '@jest/globals';
import { loadManagementConfig, loadMigrateConfig } from './config.js';

const NEEDED = {
  BERTH_NATS_URL: 'nats://127.0.0.1:4222',
  BERTH_DATABASE_URL: 'postgres://127.0.0.1/berth',
  BERTH_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
};

describe('the settings of the management API', () => {
  test('have defaults for everything but the two servers and the key', () => {
    expect(loadManagementConfig(NEEDED)).toMatchObject({
      httpHost: '127.0.0.1',
      httpPort: 8_000,
      baseUrl: 'http://127.0.0.1:8000',
      docsUrl: 'http://127.0.0.1:8000/docs',
      addresses: { runUrl: 'http://127.0.0.1:8001', loadBalancerDomain: 'localhost:8001' },
      natsSeed: null,
      admission: null,
      topology: { replicas: 1 },
      rateQuotas: { minute: 60, hour: 3_000, day: 50_000 },
    });
  });

  test('let no node join by itself unless a service account is named, as NAMESPACE/NAME, and the callout is theirs', () => {
    const account = { BERTH_NODE_SERVICE_ACCOUNT: 'berth-agents/berth-worker-agent' };
    const callout = { BERTH_AUTH_SEED: 'seed', BERTH_AUTH_ISSUER_SEED: 'issuer' };
    expect(loadManagementConfig(NEEDED).nodeJoin).toBeNull();
    expect(loadManagementConfig({ ...NEEDED, ...account, ...callout }).nodeJoin).toEqual({
      rule: { audience: 'berth', namespace: 'berth-agents', serviceAccount: 'berth-worker-agent' },
      ...{ kubeconfig: null, dataCenterId: 'LOCAL-1', reviewsPerMinute: 240 },
    });
    const load = (more: object) => () => loadManagementConfig({ ...NEEDED, ...callout, ...more });
    expect(() => loadManagementConfig({ ...NEEDED, ...account })).toThrow(
      'BERTH_NODE_SERVICE_ACCOUNT needs BERTH_AUTH_SEED',
    );
    expect(load({ BERTH_NODE_SERVICE_ACCOUNT: 'berth-worker-agent' })).toThrow('must look like NAMESPACE/NAME');
    expect(load({ ...account, BERTH_NODE_DATA_CENTER: 'EU 1' })).toThrow('BERTH_NODE_DATA_CENTER must be an id');
  });

  test.each(['https://lb.example.com', '.lb.example.com', 'lb.example.com/', '*.lb.example.com', 'lb.example.com:'])(
    'have no domain of endpoints like %p',
    (domain) => {
      expect(() => loadManagementConfig({ ...NEEDED, BERTH_LB_DOMAIN: domain })).toThrow(
        'BERTH_LB_DOMAIN must be a domain',
      );
      expect(() => loadManagementConfig({ ...NEEDED, BERTH_LB_DOMAIN: 'LB-1.example.com:8443' })).not.toThrow();
    },
  );

  test.each([
    ['BERTH_BASE_URL', 'https://api.lb.example.com'],
    ['BERTH_BASE_URL', 'https://A.B.LB.example.com.:8443/x'],
    ['BERTH_RUN_URL', 'https://run.lb.example.com'],
  ])('have no API under the domain of endpoints: %s %s', (name, url) => {
    const settings = { ...NEEDED, BERTH_LB_DOMAIN: 'lb.example.com:8001' };
    expect(() => loadManagementConfig({ ...settings, [name]: url })).toThrow(
      `${name} must not lie under BERTH_LB_DOMAIN`,
    );
    expect(() => loadManagementConfig({ ...settings, [name]: 'https://lb.example.com' })).not.toThrow();
  });

  test('follow the port and the public address', () => {
    expect(loadManagementConfig({ ...NEEDED, BERTH_HTTP_PORT: '9' }).docsUrl).toBe('http://127.0.0.1:9/docs');
    const config = loadManagementConfig({ ...NEEDED, BERTH_BASE_URL: 'https://api.example.com' });
    expect(config.docsUrl).toBe('https://api.example.com/docs');
  });

  test('turn limits off one by one', () => {
    const config = loadManagementConfig({ ...NEEDED, BERTH_RATE_LIMIT_MINUTE: '5', BERTH_RATE_LIMIT_HOUR: 'off' });
    expect(config.rateQuotas).toEqual({ minute: 5, hour: null, day: 50_000 });
  });

  test('name every variable that is missing or wrong, all at once', () => {
    const load = (): unknown =>
      loadManagementConfig({
        BERTH_NATS_URL: 'http://x',
        BERTH_HTTP_PORT: '70000',
        BERTH_LOG_LEVEL: 'loud',
        BERTH_RATE_LIMIT_MINUTE: '0',
        BERTH_RATE_LIMIT_DAY: 'none',
        BERTH_AUTH_SEED: 'S',
      });
    for (const name of [
      'BERTH_NATS_URL',
      'BERTH_DATABASE_URL',
      'BERTH_SECRET_KEY is missing: make one with `openssl rand -base64 32`',
      'BERTH_HTTP_PORT',
      'BERTH_LOG_LEVEL',
      'BERTH_RATE_LIMIT_MINUTE',
      'BERTH_RATE_LIMIT_DAY',
      'BERTH_AUTH_ISSUER_SEED',
    ]) {
      expect(load).toThrow(name);
    }
  });

  test('of who lets agents in are several keys where brokers trust one or another', () => {
    const load = (issuers: string) =>
      loadManagementConfig({ ...NEEDED, BERTH_AUTH_SEED: 'S', BERTH_AUTH_ISSUER_SEED: issuers }).admission;
    expect(load('A')).toEqual({ calloutSeed: 'S', issuerSeeds: ['A'] });
    expect(load('A, B,')).toEqual({ calloutSeed: 'S', issuerSeeds: ['A', 'B'] });
  });

  test('of the migration need the database only', () => {
    expect(() => loadMigrateConfig({})).toThrow('BERTH_DATABASE_URL is missing');
    expect(loadMigrateConfig({ BERTH_DATABASE_URL: NEEDED.BERTH_DATABASE_URL })).toMatchObject({ seedKey: null });
  });

  describe('of the first key', () => {
    const KEY = `bk_abcdefgh_${'k'.repeat(40)}`;
    const HASH = hashApiKey(KEY);
    const load = (seed: Record<string, string>) => () =>
      loadMigrateConfig({ BERTH_DATABASE_URL: NEEDED.BERTH_DATABASE_URL, ...seed });

    test('are the whole key, or its prefix and hash', () => {
      const seedKey = { prefix: 'abcdefgh', hash: HASH };
      expect(load({ BERTH_SEED_API_KEY: KEY })()).toMatchObject({ seedKey });
      expect(load({ BERTH_SEED_API_KEY_HASH: `bk_abcdefgh:${HASH}` })()).toMatchObject({ seedKey });
    });

    test('are one of the two', () => {
      const both = { BERTH_SEED_API_KEY: KEY, BERTH_SEED_API_KEY_HASH: `bk_abcdefgh:${HASH}` };
      expect(load(both)).toThrow('set one of them');
    });

    test.each(['secret', 'bk_short_x', `bk_prefix12_${'A'.repeat(40)}`])('refuse "%s", which is no key', (text) => {
      expect(load({ BERTH_SEED_API_KEY: text })).toThrow('BERTH_SEED_API_KEY must look like');
    });

    test.each([KEY, `bk_abcdefgh:${HASH.toUpperCase()}`, `abcdefgh:${HASH}`, 'bk_abcdefgh:'])(
      'refuse "%s", which is no hash',
      (text) => {
        expect(load({ BERTH_SEED_API_KEY_HASH: text })).toThrow('BERTH_SEED_API_KEY_HASH must look like');
      },
    );
  });
});
