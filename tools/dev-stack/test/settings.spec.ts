import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { LOG_LEVELS } from '@berth/telemetry';
import { SETTINGS, flagOf, usage } from '../settings.mjs';
import { isStartedByNpm, readStackConfig } from '../src/config.js';
import { unreadSettings } from '../src/unread-settings.js';

const REPOSITORY = resolve(import.meta.dirname, '../../..');
const read = (args: readonly string[], environment: Record<string, string> = {}) =>
  readStackConfig(args, { folder: '/', repository: '/', environment });

describe('the settings of npm start', () => {
  test.each(LOG_LEVELS)('take the log level %s, which every process takes', (level) => {
    expect(read(['--log-level', level]).logLevel).toBe(level);
  });

  test('are all in the help and in the documentation', () => {
    const page = readFileSync(resolve(REPOSITORY, 'docs/settings.md'), 'utf8');
    for (const { variable } of SETTINGS) {
      expect(usage()).toContain(`${variable}, default: `);
      expect(usage()).toContain(flagOf(variable));
      expect(page).toContain(`\`${variable}\``);
    }
  });

  test('reach the process that reads them, where the launcher does not', () => {
    const { handedOn } = read(['--requests-per-worker', '7'], { BERTH_WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8' });
    expect(handedOn).toEqual({ BERTH_REQUESTS_PER_WORKER: '7', BERTH_WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8' });
  });

  test.each([
    ['--prots', '--prots is not a flag; did you mean --ports?'],
    ['--verbose', '--verbose is not a flag'],
    ['--listen', '--listen is not supported yet'],
  ])('do not have the flag %s', (flag, sentence) => {
    expect(() => read([flag, '1'])).toThrow(sentence);
  });
});

describe('the number of routers', () => {
  test('is one unless said, and a whole number', () => {
    expect(read([]).routers).toBe(1);
    expect(read(['--routers', '2']).routers).toBe(2);
    expect(read([], { BERTH_ROUTERS: '16' }).routers).toBe(16);
  });

  test.each(['0', '-1', '1.5', 'two', '17', '1e3'])('is not %s, which is refused by name', (text) => {
    expect(() => read(['--routers', text])).toThrow(`BERTH_ROUTERS must be a whole number from 1 to 16, not "${text}"`);
  });

  test('leaves room for the ports of all of them', () => {
    expect(read(['--ports', '65526']).ports).toBe(65_526);
    expect(read(['--ports', '65524', '--routers', '2']).ports).toBe(65_524);
    expect(() => read(['--ports', '65525', '--routers', '2'])).toThrow(
      'BERTH_PORTS must be a whole number from 1024 to 65524, not "65525"',
    );
    expect(read(['--ports', 'auto', '--routers', '2'])).toMatchObject({ ports: 'auto', routers: 2 });
  });
});

describe('the number of hosts', () => {
  test('is one unless said, and leaves room for the ports of all of them', () => {
    expect(read([]).hosts).toBe(1);
    expect(read(['--hosts', '3'])).toMatchObject({ hosts: 3, routers: 1 });
    expect(() => read(['--ports', '65525', '--hosts', '2'])).toThrow(
      'BERTH_PORTS must be a whole number from 1024 to 65524, not "65525"',
    );
  });

  test.each(['0', '17', 'all'])('is not %s, which is refused by name', (text) => {
    expect(() => read(['--hosts', text])).toThrow(`BERTH_HOSTS must be a whole number from 1 to 16, not "${text}"`);
  });
});

describe('what is set and has no effect is named', () => {
  test('with the setting that may be meant', () => {
    expect(unreadSettings(['BERTH_PROTS', 'BERTH_HOME', 'PATH', 'BERTH_HTTP_PORT'])).toEqual([
      'BERTH_PROTS is set, but npm start does not read it: did you mean BERTH_PORTS?',
      'BERTH_HTTP_PORT is set, but npm start does not read it',
    ]);
  });

  test.each(['BERTH_LISTEN', 'BERTH_PUBLIC_URL'])('%s as not built yet', (name) => {
    expect(unreadSettings([name])).toEqual([`${name} is not supported yet and has no effect`]);
  });

  test('and a flood of it is counted', () => {
    const names = Array.from({ length: 25 }, (_, index) => `BERTH_NOT_THERE_${index}`);
    const sentences = unreadSettings([...names, `BERTH_${'X'.repeat(100_000)}`]);
    expect(sentences).toHaveLength(21);
    expect(sentences.at(-1)).toBe('and 6 more variables that npm start does not read');
  });
});

test('only npm start of this repository is what a launcher ends with', () => {
  const npm = { npm_lifecycle_event: 'start', npm_package_json: '/berth/package.json' };
  expect(isStartedByNpm('/berth', npm)).toBe(true);
  expect(isStartedByNpm('/berth', {})).toBe(false);
  expect(isStartedByNpm('/berth', { ...npm, npm_lifecycle_event: 'jest' })).toBe(false);
  expect(isStartedByNpm('/berth', { ...npm, npm_package_json: '/other/package.json' })).toBe(false);
});
