import { describe, expect, test } from '@jest/globals';
import { ConfigError, parseConfig, type ConfigReader, type Environment } from './config-reader.js';

const read = (reader: ConfigReader) => ({
  name: reader.string('NAME', 'berth'),
  port: reader.integer('PORT', { min: 1, max: 65_535, fallback: 8_000 }),
  mode: reader.oneOf('MODE', ['on', 'off'], 'on'),
  url: reader.url('URL', ['nats:', 'tls:'], 'nats://127.0.0.1'),
  urls: reader.urls('URLS', ['nats:', 'tls:'], 'nats://a, tls://b:4222'),
  seed: reader.optional('SEED'),
});

const problemsOf = (environment: Environment): readonly string[] => {
  try {
    parseConfig(environment, read);
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.problems : [`another error: ${String(error)}`];
  }
};

describe('settings', () => {
  test('have defaults, and an empty variable is none', () => {
    expect(parseConfig({ PORT: '', SEED: '' }, read)).toEqual({
      name: 'berth',
      port: 8_000,
      mode: 'on',
      url: 'nats://127.0.0.1',
      urls: 'nats://a, tls://b:4222',
      seed: null,
    });
  });

  test('cannot be changed afterwards', () => {
    expect(Object.isFrozen(parseConfig({}, read))).toBe(true);
  });

  test.each([
    [{ PORT: '0' }, 'PORT must be a whole number from 1 to 65535, not "0"'],
    [{ PORT: '80.5' }, 'PORT must be a whole number from 1 to 65535, not "80.5"'],
    [{ PORT: '0x50' }, 'PORT must be a whole number from 1 to 65535, not "0x50"'],
    [{ MODE: 'maybe' }, 'MODE must be one of on, off, not "maybe"'],
    [{ URL: 'http://127.0.0.1' }, 'URL must be a URL that starts with nats:// or tls://'],
    [{ URL: 'nonsense' }, 'URL must be a URL that starts with nats:// or tls://'],
    [{ URLS: 'nats://a,b' }, 'URLS must be URLs that start with nats:// or tls://, with commas between'],
    [{ URLS: 'nats://a,' }, 'URLS must be URLs that start with nats:// or tls://, with commas between'],
  ])('%j is refused by name', (environment, problem) => {
    expect(problemsOf(environment)).toEqual([problem]);
  });

  test('that are wrong are all named at once', () => {
    expect(problemsOf({ PORT: 'x', MODE: 'x', URL: 'x' })).toHaveLength(3);
  });

  test('without a default are missed by name', () => {
    expect(() => parseConfig({}, (reader) => ({ key: reader.string('KEY') }))).toThrow('KEY is missing');
  });
});
