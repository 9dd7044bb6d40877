import type { Socket } from 'node:net';

/** Sockets that have not shown a worker's token: each shows it with its first request, so few are needed at a time. */
const STRANGERS_MAX = 512;
/** A worker with hundreds of jobs at a time posts for all of them at once. */
const SOCKETS_PER_WORKER_MAX = 512;

/**
 * Whose sockets are open. Strangers share a small pool in which a newcomer ends one of the address that has the most of
 * them, the one that has been silent longest: a worker speaks at once, and a container has an address of its own, so a
 * flood of silent sockets ends itself. A worker has its own, which no other can use up.
 */
export class SocketPool {
  /** By where they came from, oldest first. */
  readonly #strangers = new Map<string, Set<Socket>>();
  readonly #addressOf = new WeakMap<Socket, string>();
  #strangersCount = 0;
  readonly #ofWorkers = new Map<string, Set<Socket>>();
  readonly #strangersMax: number;
  readonly #perWorkerMax: number;

  constructor(strangersMax: number = STRANGERS_MAX, perWorkerMax: number = SOCKETS_PER_WORKER_MAX) {
    this.#strangersMax = strangersMax;
    this.#perWorkerMax = perWorkerMax;
  }

  add(socket: Socket): void {
    // A socket that was closed no longer tells it.
    const address = socket.remoteAddress ?? '';
    const ofAddress = this.#strangers.get(address) ?? new Set();
    this.#strangers.set(address, ofAddress.add(socket));
    this.#addressOf.set(socket, address);
    this.#strangersCount += 1;
    socket.once('close', () => this.#removeStranger(socket));
    if (this.#strangersCount > this.#strangersMax) this.#endOne();
  }

  #endOne(): void {
    let most = new Set<Socket>();
    for (const sockets of this.#strangers.values()) if (sockets.size > most.size) most = sockets;
    const [oldest] = most;
    if (oldest === undefined) return;
    this.#removeStranger(oldest);
    oldest.destroy();
  }

  #removeStranger(socket: Socket): void {
    const address = this.#addressOf.get(socket);
    const ofAddress = address === undefined ? undefined : this.#strangers.get(address);
    if (address === undefined || !ofAddress?.delete(socket)) return;
    this.#strangersCount -= 1;
    if (ofAddress.size === 0) this.#strangers.delete(address);
  }

  /** It has shown the token of `owner`. False: that worker has too many already. */
  claim(socket: Socket, owner: string): boolean {
    const owned = this.#ofWorkers.get(owner) ?? new Set();
    if (owned.has(socket)) return true;
    if (owned.size >= this.#perWorkerMax || socket.destroyed) return false;
    this.#removeStranger(socket);
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
