import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadOrCreateNatsKeys, type NatsKeys } from '@berth/broker-access';
import { systemRandom } from '@berth/lifecycle';

/** What must stay the same from one start to the next. Kept below the home, readable by its owner only. */
export interface StackSecrets {
  /** The whole API key of the account `default`, admin scope included. */
  readonly apiKey: string;
  /** Base64 of the 32 bytes with which secrets are encrypted at rest. */
  readonly secretKey: string;
  readonly nats: NatsKeys;
}

const OWNER_ONLY = 0o600;
const SECRET_KEY_BYTES = 32;
const KEY_PREFIX_LENGTH = 8;
const KEY_SECRET_LENGTH = 40;

export async function loadOrCreateSecrets(home: string): Promise<StackSecrets> {
  const folder = join(home, 'secrets');
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, 'stack.json');
  const kept = await readKept(path);
  const own = kept ?? { apiKey: newApiKey(), secretKey: randomBytes(SECRET_KEY_BYTES).toString('base64') };
  if (kept === null) await writeWhole(path, JSON.stringify(own));
  return { ...own, nats: await loadOrCreateNatsKeys(join(folder, 'nats.json')) };
}

/** Makes the API key that the next start has; everything else stays as it is. */
export async function renewApiKey(home: string, { secretKey }: StackSecrets): Promise<void> {
  await writeWhole(join(home, 'secrets/stack.json'), JSON.stringify({ apiKey: newApiKey(), secretKey }));
}

const newApiKey = (): string => `bk_${systemRandom.id(KEY_PREFIX_LENGTH)}_${systemRandom.id(KEY_SECRET_LENGTH)}`;

async function readKept(path: string): Promise<Pick<StackSecrets, 'apiKey' | 'secretKey'> | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Pick<StackSecrets, 'apiKey' | 'secretKey'>;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function writeWhole(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: OWNER_ONLY });
  await rename(`${path}.new`, path);
}
