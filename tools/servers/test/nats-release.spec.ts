import { describe, expect, test } from '@jest/globals';
import { isNatsVersionEnough, parseNatsVersion } from '../src/nats/nats-release.js';

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
