import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadOrCreateNatsKeys } from '@berth/broker-access';
import { useTempFolders } from '@berth/testing';
import { expect, test } from '@jest/globals';
import { devBrokerSettings } from '../src/dev-broker.js';

const tempFolder = useTempFolders();
const natsUrl = 'nats://127.0.0.1:8003';

async function homeWith(processes: Readonly<Record<string, number>>): Promise<{ home: string; seed: string }> {
  const home = await tempFolder();
  await mkdir(join(home, 'secrets'));
  const keys = await loadOrCreateNatsKeys(join(home, 'secrets/nats.json'));
  await writeFile(join(home, 'dev.json'), JSON.stringify({ natsUrl, processes }));
  return { home, seed: keys.roles.router };
}

test('the broker of a stack is its routers’, with their key', async () => {
  const { home, seed } = await homeWith({ 'job-router': 1, 'nats-server': 2 });
  expect(await devBrokerSettings(home)).toEqual({ BERTH_NATS_URL: natsUrl, BERTH_NATS_SEED: seed });
});

test('somebody else’s broker does not know the keys of the stack', async () => {
  const { home } = await homeWith({ 'job-router': 1 });
  expect(await devBrokerSettings(home)).toEqual({ BERTH_NATS_URL: natsUrl });
});

test('without a stack that is ready there is none', async () => {
  expect(await devBrokerSettings(await tempFolder())).toEqual({});
  expect(await devBrokerSettings('/nowhere')).toEqual({});
});
