import type { AuthorizationRequest } from '@nats-io/jwt';

/** Who knocks, as the server asks about it. */
export interface AuthRequest {
  /** One-time public key that the server made for this connection; the answer must name it. */
  readonly userKey: string;
  /** Public key of the asking server; the answer is meant for it alone. */
  readonly serverId: string;
  /** Name that the client gave; `undefined` when none. Not yet proven. */
  readonly user: string | undefined;
  /** Secret that the client gave; `undefined` when none. Never to be logged. */
  readonly password: string | undefined;
  /** Address of the client, for the log. */
  readonly address: string | undefined;
}

/**
 * Reads the question of a server with `auth_callout`, as it arrives on `$SYS.REQ.USER.AUTH`.
 * Its signature is not checked, which would take longer than all the rest: only servers can publish on that subject, in
 * an account where nobody else lives.
 *
 * @throws Error when it is not such a question
 */
export function readAuthRequest(token: string): AuthRequest {
  const claims = token.split('.')[1] ?? '';
  const { nats } = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8')) as { nats: AuthorizationRequest };
  const { user_nkey: userKey, server_id: server, connect_opts: given, client_info: client } = nats;
  if (userKey === undefined || server === undefined) throw new Error('not an authorization request');
  return {
    userKey,
    serverId: server.id,
    user: given?.user,
    password: given?.pass,
    address: client?.host,
  };
}
