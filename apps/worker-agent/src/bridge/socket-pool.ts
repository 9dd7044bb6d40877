import type { Socket } from 'node:net';

/** Sockets that have not shown a worker's token: each shows it with its first request, so few are ever needed. */
const STRANGERS_MAX = 1_024;
/** A worker with hundreds of jobs at a time posts for all of them at once. */
const SOCKETS_PER_WORKER_MAX = 512;

/**
 * Whose sockets are open. Strangers share a small pool in which a newcomer ends the one that has been silent longest: a
 * worker speaks at once, so a flood of silent sockets ends itself. A worker has its own, which no other can use up.
 */
export class SocketPool {
  readonly #strangers = new Set<Socket>();
  readonly #ofWorkers = new Map<string, Set<Socket>>();
  readonly #strangersMax: number;
  readonly #perWorkerMax: number;

  constructor(strangersMax: number = STRANGERS_MAX, perWorkerMax: number = SOCKETS_PER_WORKER_MAX) {
    this.#strangersMax = strangersMax;
    this.#perWorkerMax = perWorkerMax;
  }

  add(socket: Socket): void {
    this.#strangers.add(socket);
    socket.once('close', () => this.#strangers.delete(socket));
    if (this.#strangers.size <= this.#strangersMax) return;
    const [oldest] = this.#strangers;
    if (oldest === undefined) return;
    this.#strangers.delete(oldest);
    oldest.destroy();
  }

  /** It has shown the token of `owner`. False: that worker has too many already. */
  claim(socket: Socket, owner: string): boolean {
    const owned = this.#ofWorkers.get(owner) ?? new Set();
    if (owned.has(socket)) return true;
    if (owned.size >= this.#perWorkerMax || socket.destroyed) return false;
    this.#strangers.delete(socket);
    this.#ofWorkers.set(owner, owned.add(socket));
    socket.once('close', () => this.#release(socket, owner));
    return true;
  }

  #release(socket: Socket, owner: string): void {
    const owned = this.#ofWorkers.get(owner);
    owned?.delete(socket);
    if (owned?.size === 0) this.#ofWorkers.delete(owner);
  }
}
