import { describe, expect, test } from '@jest/globals';
import { ConfigError, ConfigReader, parseConfig, type Environment } from './config-reader.js';

const read = (reader: ConfigReader) => ({
  name: reader.string('NAME', 'Who is called.', 'berth'),
  port: reader.integer('PORT', 'Where it listens.', { min: 1, max: 65_535, fallback: 8_000 }),
  mode: reader.oneOf('MODE', 'Whether it runs.', { choices: ['on', 'off'], fallback: 'on' }),
  url: reader.url('URL', 'Its broker.', { protocols: ['nats:', 'tls:'], fallback: 'nats://127.0.0.1' }),
  urls: reader.urls('URLS', 'Its brokers.', { protocols: ['nats:', 'tls:'], fallback: 'nats://a, tls://b:4222' }),
  seed: reader.optional('SEED', 'Its seed.'),
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
    expect(() => parseConfig({}, (reader) => ({ key: reader.string('KEY', 'A key.') }))).toThrow('KEY is missing');
  });

  test('are described as they are read, each once', () => {
    const reader = new ConfigReader({});
    reader.optional('SIZE', 'Read again below.');
    reader.integer('SIZE', 'How large it is.', { min: 1, max: 64, fallback: 4, unit: 'MiB' });
    reader.oneOf('MODE', 'Whether it runs.', { choices: ['on', 'off'], fallback: 'on' });
    reader.urls('URLS', 'Its brokers.', { protocols: ['nats:', 'tls:'] });
    reader.optionalUrl('SITE', 'Where it is found.', ['http:']);
    expect(reader.settings).toEqual([
      { name: 'SIZE', meaning: 'How large it is.', values: '1 to 64 MiB', fallback: '4' },
      { name: 'MODE', meaning: 'Whether it runs.', values: '`on`, `off`', fallback: 'on' },
      {
        name: 'URLS',
        meaning: 'Its brokers.',
        values: 'URLs with commas between: nats:// or tls://',
        fallback: null,
      },
      { name: 'SITE', meaning: 'Where it is found.', values: 'URL: http://', fallback: null },
    ]);
  });
});
