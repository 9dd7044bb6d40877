import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** What a worker says to a connection: called with all that has come of it, whenever more has. */
export type RawAnswer = (socket: Socket, heard: string) => void;

/** A worker that says bytes, and keeps those that come. */
export class RawWorker {
  /** What came on each connection, as latin1. */
  readonly heard: string[] = [];
  readonly sockets: Socket[] = [];
  readonly #server: Server;

  constructor(answer: RawAnswer) {
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      const at = this.sockets.push(socket) - 1;
      this.heard[at] = '';
      socket.on('error', () => undefined);
      socket.on('data', (chunk: Buffer) => {
        this.heard[at] += chunk.toString('latin1');
        answer(socket, this.heard[at] ?? '');
      });
    });
  }

  /** @returns its port */
  async open(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Says it once, when the head of the request is there. */
export const onHead = (act: (socket: Socket) => void): RawAnswer => {
  const done = new WeakSet<Socket>();
  return (socket, heard) => {
    if (done.has(socket) || !heard.includes('\r\n\r\n')) return;
    done.add(socket);
    act(socket);
  };
};
