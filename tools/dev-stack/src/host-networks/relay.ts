import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

/** Hosts that one machine stands for, each with a few connections. */
const CONNECTIONS_MAX = 256;

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Hands connections at one address on to another, byte for byte: the broker listens on this machine's loopback only. */
export class Relay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(to: Address) {
    this.#server = createServer((from) => {
      this.#join(from, connect(to));
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  static async open(at: Address, to: Address): Promise<Relay> {
    const relay = new Relay(to);
    relay.#server.listen(at.port, at.host);
    await once(relay.#server, 'listening');
    return relay;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  /** One side's end is the other's: nothing of a connection stays when the broker or the host has gone. */
  #join(from: Socket, to: Socket): void {
    for (const [source, target] of [
      [from, to],
      [to, from],
    ] as const) {
      this.#sockets.add(source);
      source.setNoDelay(true);
      pipeline(source, target, () => {
        this.#sockets.delete(source);
        source.destroy();
        target.destroy();
      });
    }
  }
}
