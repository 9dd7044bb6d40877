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

  test('make no placeholders unless asked for, and then need an image and a place that can be read', () => {
    expect(loadControllersConfig(NEEDED).placeholders).toBeNull();
    const load = (more: object) => loadControllersConfig({ ...NEEDED, BERTH_PLACEHOLDERS: 'on', ...more });
    expect(() => load({})).toThrow('BERTH_PLACEHOLDERS needs BERTH_PLACEHOLDER_IMAGE');
    const image = { BERTH_PLACEHOLDER_IMAGE: 'berth/worker-agent:1' };
    expect(() => load({ ...image, BERTH_PLACEHOLDER_PLACE: '[]' })).toThrow('BERTH_PLACEHOLDER_PLACE cannot be used');
    const place = { BERTH_PLACEHOLDER_PLACE: '{"nodeSelector":{"pool":"gpu"}}' };
    expect(load({ ...image, ...place }).placeholders).toMatchObject({
      bounds: { max: 20, accountMax: 5 },
      around: { image: 'berth/worker-agent:1', place: { nodeSelector: { pool: 'gpu' }, tolerations: [] } },
    });
  });
});
