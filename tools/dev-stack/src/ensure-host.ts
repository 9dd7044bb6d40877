import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiError, type StackClient } from './management-client.js';

export interface LocalHost {
  readonly hostId: string;
  /** One-time token; null when this home has joined before. */
  readonly token: string | null;
}

/** The agent's own file; it is written before the agent joins. */
const IDENTITY_FILE = 'identity.json';

/**
 * The host that an agent of this machine is. An identity on disk that the control plane no longer knows (its database was thrown
 * away) is replaced by joining anew.
 */
export async function ensureHost(
  client: StackClient,
  baseUrl: string,
  { home: agentHome, name }: { readonly home: string; readonly name: string },
): Promise<LocalHost> {
  const hostId = await readHostId(join(agentHome, IDENTITY_FILE));
  if (hostId !== null && (await hasJoined(client, baseUrl, hostId))) return { hostId, token: null };
  return client.post<LocalHost>(`${baseUrl}/v2/hosts/join-tokens`, { name });
}

async function readHostId(path: string): Promise<string | null> {
  try {
    const identity = JSON.parse(await readFile(path, 'utf8')) as { readonly hostId?: unknown };
    return typeof identity.hostId === 'string' ? identity.hostId : null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

async function hasJoined(client: StackClient, baseUrl: string, hostId: string): Promise<boolean> {
  try {
    const { inventory } = await client.get<{ readonly inventory: unknown }>(`${baseUrl}/v2/hosts/${hostId}`);
    return inventory !== null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}
