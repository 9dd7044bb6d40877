import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ForwardedPeer } from '@berth/domain';
import type { Caller } from '../auth/authenticator.js';

/**
 * Takes requests away from the edge, by their heads. Of what it takes nothing has been read and nothing answered: no body,
 * no `Expect: 100-continue` (whoever wants the body says `response.writeContinue()`), no key, no metric, no error. It has the
 * limits of connections alone: how many, how much is sent ahead, how long headers and a whole request may take to arrive.
 */
export interface Dispatch {
  /**
   * Asked once of each request, also of one whose upgrade is not taken: HTTP lets such a wish be ignored. Where either of
   * these two throws, the request is answered with 500 and belongs to nobody.
   */
  takes(request: IncomingMessage): boolean;
  takesUpgrade(request: IncomingMessage): boolean;
  /** Must not throw; where it does, the connection is cut. */
  request(request: IncomingMessage, response: ServerResponse, connection: DispatchedConnection): void;
  /**
   * Must not throw; where it does, the connection is cut.
   *
   * @param head what came behind the head of the request
   */
  upgrade(request: IncomingMessage, socket: Socket, upgraded: DispatchedConnection & { readonly head: Buffer }): void;
}

export interface DispatchedConnection {
  readonly peer: ForwardedPeer;
  /**
   * The caller by the key in `Authorization`, as at any path of the edge; its connection has the room of callers with keys
   * from then on.
   *
   * @throws PlatformError `missing-api-key`, `invalid-api-key`, `rate-limited`; `service-unavailable` when nobody can tell
   */
  admit(): Promise<Caller>;
  /**
   * For what this account has opened to everybody: a caller without a good key is counted as a stranger, and its connection
   * has the room of the account's guests from then on.
   *
   * @throws PlatformError `rate-limited`
   */
  meet(accountId: string): Promise<void>;
}
