import { readJson } from '@berth/contracts';
import { objectOf, optional, readShape, text } from '@berth/domain/shape';
import { anyText } from '../broker/read-answer.js';

/** The question of a server about a client that wants to connect. */
export interface AuthRequest {
  /** One-time public key that the server made for this connection; the answer must name it. */
  readonly userKey: string;
  /** Public key of the asking server; the answer is meant for it alone. */
  readonly serverId: string;
  /** Public key of the one issuer that the server trusts. */
  readonly issuer: string;
  /** Name that the client gave; `undefined` when none. Not yet proven. */
  readonly user: string | undefined;
  /** Secret that the client gave; `undefined` when none. Never to be logged. */
  readonly password: string | undefined;
  /** Address of the client, for the log. */
  readonly address: string | undefined;
}

/** Of what a server asks, the members that decide. */
interface AuthClaims {
  readonly sub: string;
  readonly nats: AuthQuestion;
}

interface AuthQuestion {
  readonly user_nkey: string;
  readonly server_id: { readonly id: string };
  readonly connect_opts?: GivenOptions;
  readonly client_info?: { readonly host?: string };
}

interface GivenOptions {
  readonly user?: string;
  readonly pass?: string;
}

/** The client's words may be of any length: the decision refuses them, instead of leaving them without an answer. */
const CLAIMS = objectOf<AuthClaims>({
  sub: text(),
  nats: objectOf<AuthQuestion>({
    user_nkey: text(),
    server_id: objectOf<AuthQuestion['server_id']>({ id: text() }),
    connect_opts: optional(objectOf<GivenOptions>({ user: optional(anyText), pass: optional(anyText) })),
    client_info: optional(objectOf<{ host?: string }>({ host: optional(anyText) })),
  }),
});

/**
 * Reads the question of a server with `auth_callout`, as it arrives on `$SYS.REQ.USER.AUTH`.
 * Its signature is not checked, which would take longer than all the rest: only servers can publish on that subject, in
 * an account where nobody else lives.
 *
 * @throws Error when it is not such a question
 */
export function readAuthRequest(token: string): AuthRequest {
  const claims = token.split('.')[1] ?? '';
  const json = readJson(Buffer.from(claims, 'base64url'));
  const reading = json.kind === 'unreadable' ? json : readShape<AuthClaims>(CLAIMS, json.value);
  if (reading.kind === 'unreadable') throw new Error(`not an authorization request: ${reading.reason}`);
  const { nats, sub: issuer } = reading.value;
  const { user_nkey: userKey, server_id: server, connect_opts: given, client_info: client } = nats;
  return {
    userKey,
    serverId: server.id,
    issuer,
    user: given?.user,
    password: given?.pass,
    address: client?.host,
  };
}
