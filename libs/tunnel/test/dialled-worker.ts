import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { LinkAnswer, LinkTarget, WorkerLink } from '../src/index.js';

/** The way to a worker on this machine that dials it for each request: what an agent's own link does, without its cap. */
export class DialledWorker implements WorkerLink {
  readonly #port: number;
  readonly sockets = new Set<Socket>();
  readonly asked: LinkTarget[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  async open(target: LinkTarget, signal: AbortSignal): Promise<LinkAnswer> {
    this.asked.push(target);
    if (signal.aborted) return { kind: 'refused', reason: 'timed-out' };
    const socket = connect({ host: '127.0.0.1', port: this.#port, allowHalfOpen: true });
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    try {
      await once(socket, 'connect', { signal });
    } catch {
      socket.destroy();
      return { kind: 'refused', reason: signal.aborted ? 'timed-out' : 'unreachable' };
    }
    return { kind: 'admitted', stream: socket };
  }
}
