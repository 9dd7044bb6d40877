import type { ServerResponse } from 'node:http';
import { atEndOfTurn } from '@berth/lifecycle';

/**
 * The head of an answer, which is said and not sent: what comes of the body in the same turn of the event loop leaves in one
 * write with it. It waits for no longer, so an answer whose body is late, or has none, is heard as soon.
 */
export class HeldHead {
  readonly #response: ServerResponse;
  #isHeld = true;

  constructor(response: ServerResponse) {
    this.#response = response;
    // While an earlier answer has the connection, Node would put the head before what was said ahead of it.
    if (response.socket === null) this.#send();
    else atEndOfTurn(() => this.#send());
  }

  /** The next write carries it. */
  goesAlong(): void {
    this.#isHeld = false;
  }

  /** Before the connection is cut: its caller hears all that has been said. */
  letGo(): void {
    this.#send();
    const { socket } = this.#response;
    // Node holds the writes of a tick back, of which a socket that is destroyed in that tick sends none.
    for (let left = socket?.writableCorked ?? 0; left > 0; left -= 1) socket?.uncork();
  }

  #send(): void {
    if (this.#isHeld && !this.#response.destroyed) this.#response.flushHeaders();
    this.#isHeld = false;
  }
}
