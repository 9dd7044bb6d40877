import type { HostId } from '@berth/domain';
import { encodeAuthorizationResponse, encodeUser } from '@nats-io/jwt';
import type { KeyPair } from '@nats-io/nkeys';
import { agentPermissions, refusedPermissions } from './agent-permissions.js';
import type { AuthRequest } from './auth-request.js';
import { signingKey } from './signing-key.js';

export interface AuthAnswerOptions {
  /** Secret seeds of account keys; each server is answered with the one that it trusts as issuer. */
  readonly issuerSeeds: readonly [string, ...string[]];
  /** Account that the agent is put into. */
  readonly account: string;
}

/** Longest life of an agent's connection: then the server ends it, the agent returns, and its host is checked again. */
export const AGENT_ADMISSION_MS = 60 * 60 * 1000;

/** Subscriptions of one agent; it needs three. */
const SUBSCRIPTIONS_MAX = 32;

/**
 * Text to answer with: let this connection in, as the agent of `hostId`, for an hour. `isRefused`: only to hear why its
 * token is good no longer.
 */
export async function admitAgent(
  request: AuthRequest,
  admission: { readonly hostId: HostId; readonly nowMs: number; readonly isRefused?: boolean },
  options: AuthAnswerOptions,
): Promise<string> {
  const { hostId, isRefused = false, nowMs } = admission;
  const permissions = isRefused ? refusedPermissions(hostId) : agentPermissions(hostId);
  const issuer = issuerOf(request, options);
  const jwt = await encodeUser(
    hostId,
    request.userKey,
    issuer,
    { ...permissions, subs: SUBSCRIPTIONS_MAX, allowed_connection_types: ['STANDARD'] },
    { aud: options.account, exp: Math.floor((nowMs + AGENT_ADMISSION_MS) / 1000) },
  );
  return encodeAuthorizationResponse(request.userKey, request.serverId, issuer, { jwt }, {});
}

/** Text to answer with: do not let this connection in. The client is told nothing; `reason` is for the server's log. */
export function refuseAgent(request: AuthRequest, reason: string, options: AuthAnswerOptions): Promise<string> {
  return encodeAuthorizationResponse(
    request.userKey,
    request.serverId,
    issuerOf(request, options),
    { error: reason },
    {},
  );
}

/** Whether the server that asks would take an answer; else it lets nobody in, whatever is said. */
export const isTrustedIssuer = ({ issuer }: Pick<AuthRequest, 'issuer'>, options: AuthAnswerOptions): boolean =>
  issuersOf(options).some((own) => own.getPublicKey() === issuer);

/** Made once for all answers. */
const issuers = new WeakMap<AuthAnswerOptions, readonly [KeyPair, ...KeyPair[]]>();

function issuersOf(options: AuthAnswerOptions): readonly [KeyPair, ...KeyPair[]] {
  const known = issuers.get(options);
  if (known !== undefined) return known;
  const [first, ...others] = options.issuerSeeds;
  const made: [KeyPair, ...KeyPair[]] = [signingKey(first), ...others.map(signingKey)];
  issuers.set(options, made);
  return made;
}

/** One that a server does not trust it does not hear; an answer ends its client's waiting all the same. */
function issuerOf({ issuer }: AuthRequest, options: AuthAnswerOptions): KeyPair {
  const own = issuersOf(options);
  return own.find((each) => each.getPublicKey() === issuer) ?? own[0];
}
