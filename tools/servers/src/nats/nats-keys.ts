import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createAccount, createUser, fromSeed, type KeyPair } from '@nats-io/nkeys';

/**
 * Who connects with a key of its own. Agents do not: the auth callout lets them in.
 * `callout`: management-api's second connection, which answers the server's questions about agents.
 * `system`: looks at connections and ends them; nothing else.
 */
export const NATS_ROLES = ['management', 'controllers', 'router', 'callout', 'system'] as const;
export type NatsRole = (typeof NATS_ROLES)[number];

/** Secret seeds (Ed25519, nkey text). Whoever holds one is that role. */
export interface NatsKeys {
  readonly roles: Readonly<Record<NatsRole, string>>;
  /** Account key that signs the callout's answers. */
  readonly issuer: string;
}

/** The public halves: all that the server's configuration needs. */
export interface NatsPublicKeys {
  readonly roles: Readonly<Record<NatsRole, string>>;
  readonly issuer: string;
}

export const createNatsKeys = (): NatsKeys => ({
  roles: forEachRole(() => seedOf(createUser())),
  issuer: seedOf(createAccount()),
});

export const publicNatsKeys = (keys: NatsKeys): NatsPublicKeys => ({
  roles: forEachRole((role) => publicKeyOf(keys.roles[role])),
  issuer: publicKeyOf(keys.issuer),
});

const OWNER_ONLY = 0o600;

/** Reads the keys of a stack, or makes them at its first start; the file is readable by its owner only. */
export const loadOrCreateNatsKeys = async (path: string): Promise<NatsKeys> => {
  const kept = await readKeys(path);
  if (kept !== undefined) return kept;
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${randomBytes(6).toString('hex')}.new`;
  await writeFile(draft, JSON.stringify(createNatsKeys(), undefined, 2), { mode: OWNER_ONLY });
  try {
    // Unlike a rename, a link fails when somebody else was first; then theirs are the keys.
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const written = await readKeys(path);
  if (written === undefined) throw new Error(`${path} vanished while it was written.`);
  return written;
};

const readKeys = async (path: string): Promise<NatsKeys | undefined> => {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  const keys = JSON.parse(text) as NatsKeys;
  // Fails on a broken or foreign file here, with its name, and not later as a refused connection.
  try {
    publicNatsKeys(keys);
  } catch (cause) {
    throw new Error(`${path} does not hold the keys of every role. Remove it to get new ones.`, { cause });
  }
  return keys;
};

const forEachRole = (make: (role: NatsRole) => string): Record<NatsRole, string> =>
  Object.fromEntries(NATS_ROLES.map((role) => [role, make(role)])) as Record<NatsRole, string>;

const seedOf = (pair: KeyPair): string => new TextDecoder().decode(pair.getSeed());

const publicKeyOf = (seed: string): string => fromSeed(new TextEncoder().encode(seed)).getPublicKey();
