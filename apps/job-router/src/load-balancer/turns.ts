import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Ahead {
  readonly isSafe: boolean;
  /** Its answer is over. */
  readonly over: Promise<void>;
}

/** Methods that ask for no effect (RFC 9110, 9.2.1). */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

/**
 * Requests that were sent ahead on one connection go to workers together only where all of them are safe (RFC 9112, 9.3.2):
 * else the second could have its effect before the first.
 */
export class Turns {
  readonly #ahead = new WeakMap<Socket, Set<Ahead>>();

  /**
   * To be called for each request of a connection in their order.
   *
   * @returns resolves when its turn has come, or the connection is gone
   */
  take({ method = '', socket }: IncomingMessage, response: ServerResponse): Promise<unknown> {
    const ahead = this.#ahead.get(socket) ?? new Set<Ahead>();
    const isSafe = SAFE.has(method);
    const before = [...ahead].filter((each) => !isSafe || !each.isSafe).map(({ over }) => over);
    const own: Ahead = { isSafe, over: new Promise((resolve) => response.once('close', resolve)) };
    response.once('close', () => ahead.delete(own));
    this.#ahead.set(socket, ahead.add(own));
    return Promise.all(before);
  }
}
