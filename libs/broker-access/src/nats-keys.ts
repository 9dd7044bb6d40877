import { createAccount, createUser, fromSeed, type KeyPair } from '@nats-io/nkeys';

/**
 * Roles of our processes that connect with a key of their own. Agents have none: the auth callout lets them in.
 * `sessions`, `gateway`: over which management-api and the routers hear agents; they may write to agents and nowhere
 * else, so an answer that an agent sends astray meets the broker's refusal.
 * `callout`: management-api's second connection, which answers the server's questions about agents.
 * `system`: looks at connections and ends them; nothing else.
 * `operator`: whoever looks after the installation; it reads how streams are, and logs, and changes nothing.
 * `backup` copies what is the truth about jobs and changes nothing; `restore` puts such a copy where nothing is.
 */
export const NATS_ROLES = [
  ...(['management', 'sessions', 'controllers', 'router', 'gateway'] as const),
  ...(['callout', 'system', 'operator', 'backup', 'restore'] as const),
] as const;
export type NatsRole = (typeof NATS_ROLES)[number];

/** Secret seeds (Ed25519, nkey text). The holder of one is that role. */
export interface NatsKeys {
  readonly roles: Readonly<Record<NatsRole, string>>;
  /** Account key that signs the callout's answers. */
  readonly issuer: string;
}

/** The public halves: all that the server's configuration needs. */
export interface NatsPublicKeys {
  /** The holder of any of these is that role: while keys are replaced there are two. */
  readonly roles: Readonly<Record<NatsRole, readonly string[]>>;
  /** A server trusts one. */
  readonly issuer: string;
}

export const createNatsKeys = (): NatsKeys => ({
  roles: forEachRole(() => seedOf(createUser())),
  issuer: seedOf(createAccount()),
});

/** Keys that were written before a role was known get one for it; those that are whole are returned as they are. */
export const completeNatsKeys = (keys: NatsKeys): NatsKeys =>
  NATS_ROLES.every((role) => role in keys.roles)
    ? keys
    : { ...keys, roles: { ...createNatsKeys().roles, ...keys.roles } };

/** @param others further keys of roles, which are let in as well */
export const publicNatsKeys = (keys: NatsKeys, ...others: readonly NatsKeys['roles'][]): NatsPublicKeys => ({
  roles: forEachRole((role) => [...new Set([keys.roles, ...others].map((roles) => publicKeyOf(roles[role])))]),
  issuer: publicKeyOf(keys.issuer),
});

const forEachRole = <Value>(make: (role: NatsRole) => Value): Record<NatsRole, Value> =>
  Object.fromEntries(NATS_ROLES.map((role) => [role, make(role)])) as Record<NatsRole, Value>;

const seedOf = (pair: KeyPair): string => new TextDecoder().decode(pair.getSeed());

/** By seed, of those that this process was given: each takes some ten milliseconds to compute. */
const publicKeys = new Map<string, string>();

function publicKeyOf(seed: string): string {
  const known = publicKeys.get(seed) ?? fromSeed(new TextEncoder().encode(seed)).getPublicKey();
  publicKeys.set(seed, known);
  return known;
}
