import { open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HostId } from '@berth/domain';
import { syncFolder } from '@berth/lifecycle';

/** The identity of this agent, over all its restarts. */
export interface HostIdentity {
  readonly hostId: HostId;
  /** Proves it to broker and control plane; only its hash leaves this machine before the host has joined. */
  readonly secret: string;
  /** False until the control plane has confirmed it. */
  readonly isJoined: boolean;
  /** Empty until the control plane has told it. */
  readonly dataCenterId: string;
}

const FILE = 'identity.json';
const OWNER_ONLY = 0o600;

/** Keeps the identity in a file of the agent's home. */
export class IdentityStore {
  readonly #path: string;

  constructor(home: string) {
    this.#path = join(home, FILE);
  }

  /** Null when this home has never begun to join. @throws Error when the file is there and cannot be understood */
  async load(): Promise<HostIdentity | null> {
    const text = await readFile(this.#path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return null;
      throw error;
    });
    return text === null ? null : parse(text, this.#path);
  }

  /** On disk when it resolves; a crash leaves the old file or the new one. */
  async save(identity: HostIdentity): Promise<void> {
    const draft = `${this.#path}.part`;
    const file = await open(draft, 'w', OWNER_ONLY);
    try {
      await file.writeFile(JSON.stringify(identity));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, this.#path);
    await syncFolder(dirname(this.#path));
  }
}

function parse(text: string, path: string): HostIdentity {
  let value: Partial<HostIdentity> | null;
  try {
    value = JSON.parse(text) as Partial<HostIdentity> | null;
  } catch {
    // Without its cause, which quotes the text, and so perhaps the secret.
    throw new Error(`${path} is not JSON`);
  }
  const { hostId, secret, isJoined, dataCenterId } = value ?? {};
  const isWhole =
    typeof hostId === 'string' &&
    typeof secret === 'string' &&
    typeof isJoined === 'boolean' &&
    typeof dataCenterId === 'string';
  if (!isWhole) throw new Error(`${path} is no identity of a host`);
  return { hostId, secret, isJoined, dataCenterId };
}
