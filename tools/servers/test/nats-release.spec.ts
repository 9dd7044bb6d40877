import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { isNatsVersionEnough, NATS_WHEEL, NATS_WHEEL_SHA256, parseNatsVersion } from '../src/nats/nats-release.js';

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

test('the image of a broker has the same nats-server, by hashes of its Linux wheels', () => {
  const requirements = new URL('../../../deploy/docker/nats-server.requirements.txt', import.meta.url);
  const [wheel, ...hashes] = readFileSync(requirements, 'utf8')
    .split(/[\s\\]+/)
    .filter(Boolean);
  expect(wheel).toBe(NATS_WHEEL);
  expect(hashes).toEqual(NATS_WHEEL_SHA256.slice(0, 2).map((hash) => `--hash=sha256:${hash}`));
});
