import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NatsKeys } from '@berth/broker-access';
import type { DevFile } from './dev-file.js';

/**
 * How a router of the stack that is ready in that home is told of its broker, for a tool that works beside it. Empty where
 * none is ready. An outside broker's address carries its own credentials.
 */
export async function devBrokerSettings(home: string): Promise<Readonly<Record<string, string>>> {
  const devFile = await readIfThere<DevFile>(join(home, 'dev.json'));
  if (devFile === null) return {};
  const settings = { BERTH_NATS_URL: devFile.natsUrl };
  if (devFile.processes['nats-server'] === undefined) return settings;
  const keys = await readIfThere<NatsKeys>(join(home, 'secrets', 'nats.json'));
  return keys === null ? settings : { ...settings, BERTH_NATS_SEED: keys.roles.router };
}

async function readIfThere<Content>(path: string): Promise<Content | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Content;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
