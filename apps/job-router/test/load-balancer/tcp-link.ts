import { connect, type Socket } from 'node:net';
import type { LinkAnswer, LinkTarget, LinkWish, WorkerLink } from '@berth/tunnel';

interface ListeningWorker {
  readonly port: number;
  readonly slots: number;
}

/** A way to workers as their agent would keep it, on one machine and without a tunnel: it alone keeps the cap. */
export class TcpLink implements WorkerLink {
  readonly asked: string[] = [];
  readonly workers = new Map<string, ListeningWorker>();
  readonly inFlight = new Map<string, number>();
  /** The most that a worker ever had at one time. */
  mostInFlight = 0;
  /** Answers that it gives before any other. */
  readonly refusals: Extract<LinkAnswer, { readonly kind: 'refused' }>['reason'][] = [];
  /** It says nothing until it is given up. */
  isSilent = false;

  readonly #streams = new Set<Socket>();
  /** Questions that wait for a slot of a worker, oldest first. */
  readonly #waiting: { readonly workerId: string; readonly give: () => void }[] = [];

  /** As a tunnel that is lost, or an agent that lets go of its worker's connections. */
  breakAll(): void {
    for (const stream of this.#streams) stream.destroy(new Error('the way to the worker is lost'));
  }

  /** The worker has so many slots from now on. */
  resize(workerId: string, slots: number): void {
    const worker = this.workers.get(workerId);
    if (worker === undefined) throw new Error(`there is no ${workerId}`);
    this.workers.set(workerId, { ...worker, slots });
    this.#giveNext(workerId);
  }

  async open(target: LinkTarget, signal: AbortSignal, { mayWait = false }: LinkWish = {}): Promise<LinkAnswer> {
    const { workerId } = target;
    if (mayWait) await this.#slotOf(workerId, signal);
    else this.asked.push(workerId);
    if (signal.aborted) return { kind: 'refused', reason: 'timed-out' };
    const refusal = this.refusals.shift();
    if (refusal !== undefined) return { kind: 'refused', reason: refusal };
    if (this.isSilent) return untilGivenUp(signal);
    const worker = this.workers.get(workerId);
    if (worker === undefined) return { kind: 'refused', reason: 'unknown-worker' };
    const inFlight = this.inFlight.get(workerId) ?? 0;
    if (inFlight >= worker.slots) return { kind: 'refused', reason: 'full' };
    this.#set(workerId, inFlight + 1);
    return this.#connect(workerId, worker.port);
  }

  /** Resolves when one may be free, or the question was given up. */
  #slotOf(workerId: string, signal: AbortSignal): Promise<void> {
    if ((this.inFlight.get(workerId) ?? 0) < (this.workers.get(workerId)?.slots ?? 0)) return Promise.resolve();
    return new Promise((resolve) => {
      const ask = { workerId, give: resolve };
      this.#waiting.push(ask);
      signal.addEventListener('abort', () => {
        if (this.#waiting.includes(ask)) this.#waiting.splice(this.#waiting.indexOf(ask), 1);
        resolve();
      });
    });
  }

  #connect(workerId: string, port: number): Promise<LinkAnswer> {
    const stream = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    this.#streams.add(stream);
    stream.once('close', () => {
      this.#streams.delete(stream);
      this.#set(workerId, (this.inFlight.get(workerId) ?? 0) - 1);
      this.#giveNext(workerId);
    });
    return new Promise((resolve) => {
      stream.once('connect', () => {
        resolve({ kind: 'admitted', stream });
      });
      stream.once('error', () => {
        resolve({ kind: 'refused', reason: 'unreachable' });
      });
    });
  }

  #giveNext(workerId: string): void {
    const next = this.#waiting.findIndex((ask) => ask.workerId === workerId);
    if (next !== -1) this.#waiting.splice(next, 1)[0]?.give();
  }

  #set(workerId: string, inFlight: number): void {
    this.inFlight.set(workerId, inFlight);
    this.mostInFlight = Math.max(this.mostInFlight, inFlight);
  }
}

const untilGivenUp = (signal: AbortSignal): Promise<LinkAnswer> =>
  new Promise((resolve) => {
    const giveUp = (): void => resolve({ kind: 'refused', reason: 'timed-out' });
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
  });
