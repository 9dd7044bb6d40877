import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { createNatsKeys } from '@berth/broker-access';
import { useTempFolders } from '@berth/testing/folders';
import { expect, test } from '@jest/globals';
import { readStackConfig } from '../src/config.js';
import { writeOperatorFile } from '../src/operator-file.js';

const tempFolder = useTempFolders();
const nats = createNatsKeys();

async function written(given: { readonly natsUrl: string | null }): Promise<Record<string, string | undefined>> {
  const home = await tempFolder();
  const config = { ...readStackConfig([], { folder: '/', repository: '/', environment: {} }), ...given, home };
  const ports = {
    ...{ managementApi: 8_000, routers: [{ http: 8_001, operations: 8_008 }] as const },
    ...{ agents: [{ bridge: 8_002, operations: 8_009 }] as const, nats: 8_003, natsMonitoring: 8_004, postgres: 8_005 },
    operations: { 'management-api': 8_006, controllers: 8_007 },
  };
  await writeOperatorFile({
    ...{ config, ports, runtime: 'process', engine: null, storageBytes: 1 },
    ...{ natsUrl: given.natsUrl ?? 'nats://127.0.0.1:8003', databaseUrl: 'postgres://127.0.0.1:8005/berth' },
    secrets: { apiKey: 'bk_key', secretKey: 'secret', nats },
  });
  const path = join(home, 'operator.env');
  expect((await stat(path)).mode & 0o077).toBe(0);
  return parseEnv(await readFile(path, 'utf8'));
}

test('the command is told of all that an installation’s is, with a key that only reads', async () => {
  expect(await written({ natsUrl: null })).toEqual({
    BERTH_NATS_URL: 'nats://127.0.0.1:8003',
    BERTH_NATS_SEED: nats.roles.operator,
    BERTH_DATABASE_URL: 'postgres://127.0.0.1:8005/berth',
    BERTH_BASE_URL: 'http://127.0.0.1:8000',
    BERTH_RUN_URL: 'http://127.0.0.1:8001',
    BERTH_AGENT_NATS_URL: 'nats://127.0.0.1:8003',
    BERTH_OPERATIONS_URLS: 'http://127.0.0.1:8006,http://127.0.0.1:8007,http://127.0.0.1:8008',
    BERTH_API_KEY: 'bk_key',
  });
});

test('somebody else’s broker does not know the keys of the stack', async () => {
  const variables = await written({ natsUrl: 'nats://user:pass@broker:4222' });
  expect(variables.BERTH_NATS_URL).toBe('nats://user:pass@broker:4222');
  expect(variables).not.toHaveProperty('BERTH_NATS_SEED');
});
