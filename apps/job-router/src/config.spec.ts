import { ConfigError } from '@berth/lifecycle';
import { describe, expect, test } from '@jest/globals';
import { loadConfig } from './config.js';

const MINIMAL = {
  BERTH_NATS_URL: 'nats://127.0.0.1:4222',
  BERTH_SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
};

describe('the settings of the router', () => {
  test('defaults', () => {
    expect(loadConfig(MINIMAL)).toMatchObject({
      natsUrl: 'nats://127.0.0.1:4222',
      natsCredentials: { kind: 'none' },
      topology: { replicas: 1 },
      httpHost: '127.0.0.1',
      httpPort: 8_001,
      drainDelayMs: 2_000,
      drainMs: 10_000,
      streamFormat: 'array',
      rateLimits: { isOn: true, requestsPerWorker: 50 },
      loadBalancer: { domain: 'localhost:8001', holdMs: 120_000, bodyBytesMax: 30_000_000, loggedPermille: 10 },
      logLevel: 'info',
    });
  });

  test.each(['https://lb.example.com', '.lb.example.com', 'lb.example.com/', '*.lb.example.com', 'lb.example.com:'])(
    'have no domain of endpoints like %p',
    (domain) => {
      expect(() => loadConfig({ ...MINIMAL, BERTH_LB_DOMAIN: domain })).toThrow('BERTH_LB_DOMAIN must be a domain');
      expect(() => loadConfig({ ...MINIMAL, BERTH_LB_DOMAIN: 'LB-1.example.com:8443' })).not.toThrow();
    },
  );

  test.each([
    ['BERTH_BASE_URL', 'https://api.lb.example.com'],
    ['BERTH_BASE_URL', 'https://A.B.LB.example.com.:8443/x'],
  ])('have no API under the domain of endpoints: %s %s', (name, url) => {
    const settings = { ...MINIMAL, BERTH_LB_DOMAIN: 'lb.example.com:8001' };
    expect(() => loadConfig({ ...settings, [name]: url })).toThrow(`${name} must not lie under BERTH_LB_DOMAIN`);
    expect(() => loadConfig({ ...settings, [name]: 'https://lb.example.com' })).not.toThrow();
  });

  test('are frozen', () => {
    expect(Object.isFrozen(loadConfig(MINIMAL))).toBe(true);
  });

  test('a seed, or user and password, are the credentials', () => {
    expect(loadConfig({ ...MINIMAL, BERTH_NATS_SEED: 'SUA' }).natsCredentials).toEqual({ kind: 'nkey', seed: 'SUA' });
    expect(loadConfig({ ...MINIMAL, BERTH_NATS_USER: 'u', BERTH_NATS_PASSWORD: 'p' }).natsCredentials).toEqual({
      kind: 'password',
      user: 'u',
      pass: 'p',
    });
  });

  test('webhooks may go to networks that are opened, and else to what is open to everybody', () => {
    const allowed = (networks: string) => loadConfig({ ...MINIMAL, BERTH_WEBHOOK_ALLOWED_NETWORKS: networks });
    expect(loadConfig(MINIMAL).webhookAddresses.refusalOf('10.1.2.3')).not.toBeNull();
    const { webhookAddresses } = allowed('127.0.0.0/8, 10.0.0.0/8,');
    expect(webhookAddresses.refusalOf('10.1.2.3')).toBeNull();
    expect(webhookAddresses.refusalOf('192.168.0.1')).not.toBeNull();
  });

  test('every bad variable is named at once', () => {
    const load = (): unknown =>
      loadConfig({
        BERTH_HTTP_PORT: '70000',
        BERTH_NATS_REPLICAS: '2',
        BERTH_NATS_STORAGE_BYTES: 'much',
        BERTH_STREAM_FORMAT: 'list',
        BERTH_LB_HOLD_MS: '-1',
        BERTH_DRAIN_DELAY_MS: '15001',
        BERTH_LB_BODY_BYTES_MAX: '30 MB',
        BERTH_ROUTER_ID: 'a.b',
        BERTH_WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, 10.0.0.0/33',
      });

    expect(load).toThrow(ConfigError);
    for (const name of [
      'NATS_URL',
      'HTTP_PORT',
      'NATS_REPLICAS',
      'NATS_STORAGE_BYTES',
      'STREAM_FORMAT',
      'LB_HOLD_MS',
      'DRAIN_DELAY_MS',
      'LB_BODY_BYTES_MAX',
      'ROUTER_ID',
      'WEBHOOK_ALLOWED_NETWORKS',
      'SECRET_KEY',
    ]) {
      expect(load).toThrow(new RegExp(`BERTH_${name}`));
    }
  });
});
