import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/**
 * Senders that ask before they send a body (`Expect: 100-continue`). They are told to go on when somebody reads it, so
 * that one whose request is refused sends nothing.
 */
export class ContinueRequests {
  readonly #waiting = new WeakMap<IncomingMessage, ServerResponse>();

  watch(server: Server): void {
    server.on('checkContinue', (request, response) => {
      this.#waiting.set(request, response);
      server.emit('request', request, response);
    });
    // One that we do not know is left aside, as HTTP allows, rather than answered without a body.
    server.on('checkExpectation', (request, response) => {
      server.emit('request', request, response);
    });
  }

  /** Whether the sender still waits for a word. */
  isWaiting(request: IncomingMessage): boolean {
    return this.#waiting.has(request);
  }

  tellToGoOn(request: IncomingMessage): void {
    this.#waiting.get(request)?.writeContinue();
    this.#waiting.delete(request);
  }
}
