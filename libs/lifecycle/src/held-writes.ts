import type { Writable } from 'node:stream';
import { atEndOfTurn } from './at-end-of-turn.js';

/**
 * What is written to a connection in one turn of the event loop leaves in one call of the system at its end: the head of an
 * answer with the first of its body, and a body by more than the 16 kB that a record of TLS brings. Nothing waits for longer.
 */
export class HeldWrites {
  readonly #connection: () => Writable | null;
  #held: Writable | undefined;

  /** @param connection null: there is none at the moment, and nothing is held back */
  constructor(connection: () => Writable | null) {
    this.#connection = connection;
  }

  /** Before each write. */
  hold(): void {
    const connection = this.#connection();
    if (this.#held !== undefined || connection === null) return;
    this.#held = connection;
    connection.cork();
    atEndOfTurn(() => {
      this.#held?.uncork();
      this.#held = undefined;
    });
  }

  /** Before the connection is cut: a socket that is destroyed sends nothing of what it holds back, also for Node itself. */
  letGo(): void {
    this.#held = undefined;
    const connection = this.#connection();
    for (let left = connection?.writableCorked ?? 0; left > 0; left -= 1) connection?.uncork();
  }
}
