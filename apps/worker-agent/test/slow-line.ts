import { systemClock } from '@berth/lifecycle';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';

const TICK_MS = 10;
const MS_PER_SECOND = 1_000;
/** What the modem of such a line keeps, whichever connection it came from. */
const BUFFER_BYTES = 128 * 1024;

interface Piece {
  readonly to: Socket;
  readonly bytes: Buffer;
}

/** A host's line to the broker: what goes up goes in the order in which it came, so many bytes a second over all connections. */
export class SlowLine {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #senders = new Set<Socket>();
  readonly #queue: Piece[] = [];
  readonly #bytesPerSecond: number;
  readonly #stop: () => void;
  #queuedBytes = 0;
  #creditBytes = 0;
  /** All that has gone up. */
  sentBytes = 0;

  private constructor(target: URL, bytesPerSecond: number) {
    this.#bytesPerSecond = bytesPerSecond;
    this.#server = createServer((near) => this.#accept(near, connect(Number(target.port), target.hostname)));
    this.#stop = systemClock.every(TICK_MS, () => this.#send());
  }

  static async open(target: string, bytesPerSecond: number): Promise<SlowLine> {
    const line = new SlowLine(new URL(target), bytesPerSecond);
    await new Promise<void>((resolve) => line.#server.listen(0, '127.0.0.1', resolve));
    return line;
  }

  get url(): string {
    return `nats://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#stop();
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  #accept(near: Socket, far: Socket): void {
    this.#senders.add(near);
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        this.#senders.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    far.pipe(near);
    near.on('data', (bytes: Buffer) => {
      this.#queue.push({ to: far, bytes });
      this.#queuedBytes += bytes.byteLength;
      if (this.#queuedBytes >= BUFFER_BYTES) for (const sender of this.#senders) sender.pause();
    });
  }

  #send(): void {
    const perTick = (this.#bytesPerSecond * TICK_MS) / MS_PER_SECOND;
    this.#creditBytes = Math.min(this.#creditBytes + perTick, 2 * perTick);
    for (let next = this.#queue[0]; next !== undefined && this.#creditBytes >= 1; next = this.#queue[0]) {
      const count = Math.min(Math.floor(this.#creditBytes), next.bytes.byteLength);
      next.to.write(next.bytes.subarray(0, count));
      if (count === next.bytes.byteLength) this.#queue.shift();
      else this.#queue[0] = { to: next.to, bytes: next.bytes.subarray(count) };
      this.#creditBytes -= count;
      this.#queuedBytes -= count;
      this.sentBytes += count;
    }
    if (this.#queuedBytes < BUFFER_BYTES) for (const sender of this.#senders) sender.resume();
  }
}
