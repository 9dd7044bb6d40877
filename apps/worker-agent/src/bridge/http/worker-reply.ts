import type { ServerResponse } from 'node:http';

/** The answer to one request. Once: what comes after the first `send` is dropped. */
export class WorkerReply {
  readonly #response: ServerResponse;
  readonly #gone = new AbortController();
  #isSent = false;

  constructor(response: ServerResponse) {
    this.#response = response;
    response.once('close', () => {
      if (!response.writableFinished) this.#gone.abort();
    });
  }

  /** Aborted when the caller hung up before it had its answer. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get isSent(): boolean {
    return this.#isSent;
  }

  /** Answers, and ends the connection: what the caller still has to say is not read. */
  hangUpWith(status: number): Promise<boolean> {
    if (!this.#response.headersSent) this.#response.setHeader('connection', 'close');
    return this.send(status);
  }

  /**
   * Resolves with true once the whole answer was handed to the operating system, with false when the connection closed
   * before. Only the first counts as delivered.
   */
  send(status: number, json?: string): Promise<boolean> {
    if (this.#isSent || this.#gone.signal.aborted) return Promise.resolve(false);
    this.#isSent = true;
    return new Promise((resolve) => {
      const response = this.#response;
      response.once('finish', () => resolve(true));
      response.once('close', () => resolve(response.writableFinished));
      // A broken connection is told by `close`; without this listener it would end the agent.
      response.once('error', () => resolve(false));
      if (json === undefined) {
        response.writeHead(status).end();
        return;
      }
      const body = Buffer.from(json, 'utf8');
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.byteLength }).end(body);
    });
  }
}
