import type { Socket } from 'node:net';

/** Requests of one connection at one time: clients that send ahead send a few, and each costs memory until it is answered. */
export const PIPELINED_MAX = 64;

/** Those of them that are looked at while nobody has shown a good key on the connection; the others wait. */
const PIPELINED_WITHOUT_KEY_MAX = 4;

export interface PipelinedRequestsOptions {
  /** Whether somebody has shown a good key on it, or it is a trusted proxy's. */
  readonly isTrusted: (socket: Socket) => boolean;
}

interface Line {
  underWay: number;
  begun: number;
  readonly waiting: (() => void)[];
}

/** Requests that were sent on a connection before those ahead of them were answered. */
export class PipelinedRequests {
  readonly #isTrusted: (socket: Socket) => boolean;
  readonly #lines = new WeakMap<Socket, Line>();

  constructor({ isTrusted }: PipelinedRequestsOptions) {
    this.#isTrusted = isTrusted;
  }

  isIdle(socket: Socket): boolean {
    return (this.#lines.get(socket)?.underWay ?? 0) === 0;
  }

  /**
   * @param onTurn called once, at once or later: it is the request's turn, or its connection is gone
   * @returns what to call when it is answered; null where there are too many already
   */
  begin(socket: Socket, onTurn: () => void): (() => void) | null {
    const line = this.#lineOf(socket);
    if (line.underWay >= PIPELINED_MAX) return null;
    line.underWay += 1;
    if (line.begun < this.#begunMaxOf(socket)) {
      line.begun += 1;
      onTurn();
    } else {
      // A promise, for it is the end of another request that lets this one go on: its ids belong in no line of this one, and
      // its answer may just be finding out that the connection is gone.
      void new Promise<void>((resolve) => line.waiting.push(resolve)).then(onTurn);
    }
    return () => {
      line.underWay -= 1;
      line.begun -= 1;
      this.#goOn(socket);
    };
  }

  /** Lets go on who may: to be called when a connection has become trusted, or is gone. */
  goOn(socket: Socket): void {
    if (this.#lines.has(socket)) this.#goOn(socket);
  }

  #goOn(socket: Socket): void {
    const line = this.#lineOf(socket);
    while (line.begun < this.#begunMaxOf(socket)) {
      const next = line.waiting.shift();
      if (next === undefined) return;
      line.begun += 1;
      next();
    }
  }

  #begunMaxOf(socket: Socket): number {
    return socket.destroyed || this.#isTrusted(socket) ? PIPELINED_MAX : PIPELINED_WITHOUT_KEY_MAX;
  }

  #lineOf(socket: Socket): Line {
    const line = this.#lines.get(socket) ?? { underWay: 0, begun: 0, waiting: [] };
    this.#lines.set(socket, line);
    return line;
  }
}
