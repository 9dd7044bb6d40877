import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

/** Stands between a router and the broker, so that a test can cut the line as a crash would. */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isCut = false;

  private constructor(target: URL) {
    this.#server = createServer((near) => {
      // Let in just before the line was cut: whoever it is would be back.
      if (this.#isCut) {
        near.destroy();
        return;
      }
      const far = connect(Number(target.port), target.hostname);
      for (const socket of [near, far]) {
        // Or every small message would wait for the other side's delayed acknowledgement.
        socket.setNoDelay(true);
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          this.#sockets.delete(socket);
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far);
      far.pipe(near);
    });
  }

  static async open(target: string): Promise<TcpProxy> {
    const proxy = new TcpProxy(new URL(target));
    await new Promise<void>((resolve) => proxy.#server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Ends every connection at once and lets no other in. */
  cut(): void {
    this.#isCut = true;
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
