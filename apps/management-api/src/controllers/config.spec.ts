import { describe, expect, test } from '@jest/globals';
import { loadControllersConfig } from './config.js';

const NEEDED = { BERTH_NATS_URL: 'nats://127.0.0.1:4222', BERTH_DATABASE_URL: 'postgres://127.0.0.1/berth' };

describe('the settings of the controllers', () => {
  test('have defaults for everything but the two servers', () => {
    expect(loadControllersConfig(NEEDED)).toMatchObject({
      natsSeed: null,
      historyRetentionDays: 30,
      operationsHost: '127.0.0.1',
      operationsPort: 9_101,
    });
  });

  test.each(['7', '91', 'for ever'])(
    'keep no history of %s days: less than a job may live, or without an end',
    (days) => {
      const load = (): unknown => loadControllersConfig({ ...NEEDED, BERTH_HISTORY_RETENTION_DAYS: days });
      expect(load).toThrow('BERTH_HISTORY_RETENTION_DAYS must be a whole number from 8 to 90');
    },
  );
});
