import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { FrameBoundaries, SERVICE_RESTART_FRAME, nextLimit, type TimeLimits } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { Traffic } from '../visit.js';

export interface OpenSocketOptions {
  readonly caller: Socket;
  readonly worker: Duplex;
  readonly clock: Clock;
  readonly limits: TimeLimits;
  /** Is added to as bytes pass. */
  readonly traffic: Traffic;
  /** The worker's end is closed, and the caller's as soon as it has taken what was said. */
  readonly onClose: () => void;
}

/**
 * From when one end has closed its side. Both say a close frame before they do, so nothing but what is still on its way is
 * waited for.
 */
const HALF_OPEN_MS = 5_000;

/** A WebSocket between a caller and a worker: bytes both ways, each end closing for itself, the second one soon. */
export class OpenSocket {
  readonly #options: OpenSocketOptions;
  /** Of what the worker says. */
  readonly #frames = new FrameBoundaries();
  readonly #openedAtMs: number;
  #movedAtMs: number;
  #isLeaving = false;
  #isHalfOpen = false;
  #disarm: (() => void) | undefined;

  constructor(options: OpenSocketOptions) {
    this.#options = options;
    this.#openedAtMs = options.clock.monotonicMs();
    this.#movedAtMs = this.#openedAtMs;
  }

  /** @param early what each has sent by now */
  start(early: { readonly ofCaller: Buffer; readonly ofWorker: Buffer }): void {
    const { caller, traffic, worker } = this.#options;
    this.#followWorker(early.ofWorker);
    traffic.inBytes += early.ofCaller.length;
    if (early.ofWorker.length > 0) caller.write(early.ofWorker);
    if (early.ofCaller.length > 0) worker.write(early.ofCaller);
    worker.on('error', () => this.#lose());
    caller.once('close', () => {
      this.#disarm?.();
      worker.destroy();
    });
    worker.once('close', () => {
      caller.destroySoon();
      this.#limitHalfOpen();
      this.#options.onClose();
    });
    for (const end of [caller, worker]) end.once('end', () => this.#limitHalfOpen());
    caller.pipe(worker);
    worker.pipe(caller);
    // Behind the pipes, so that a chunk has been passed on when it is looked at.
    caller.on('data', ({ length }: Buffer) => {
      this.#moved();
      traffic.inBytes += length;
    });
    worker.on('data', (chunk: Buffer) => {
      this.#followWorker(chunk);
      if (this.#isLeaving) this.#closeBetweenFrames();
    });
    this.#arm();
  }

  /** Says to the caller that it shall come again, as soon as no frame of the worker is under way. */
  leave(): void {
    this.#isLeaving = true;
    this.#closeBetweenFrames();
  }

  #closeBetweenFrames(): void {
    const { caller, worker } = this.#options;
    if (!this.#frames.isBetween || caller.writableEnded) return;
    worker.unpipe(caller);
    if (this.#frames.hasClosed) caller.end();
    else caller.end(SERVICE_RESTART_FRAME);
    // What the worker still says is for nobody.
    worker.resume();
  }

  /** The way to the worker is gone, as at the end of its drain: its caller hears it where no frame is cut by that. */
  #lose(): void {
    this.leave();
    if (!this.#frames.isBetween) this.#options.caller.destroy();
  }

  #followWorker(chunk: Buffer): void {
    this.#moved();
    this.#options.traffic.outBytes += chunk.length;
    this.#frames.pass(chunk);
  }

  #moved(): void {
    this.#movedAtMs = this.#options.clock.monotonicMs();
  }

  #limitHalfOpen(): void {
    const { caller, clock } = this.#options;
    if (this.#isHalfOpen || caller.destroyed) return;
    this.#isHalfOpen = true;
    this.#disarm?.();
    this.#disarm = clock.after(HALF_OPEN_MS, () => caller.destroy());
  }

  #arm(): void {
    const { caller, clock, limits } = this.#options;
    const progress = {
      ...{ phase: 'open' as const, admittedAtMs: this.#openedAtMs, movedAtMs: this.#movedAtMs },
      ...{ bodyDueAtMs: Number.POSITIVE_INFINITY, isHeldUp: false },
    };
    const leftMs = nextLimit(progress, limits).atMs - clock.monotonicMs();
    if (leftMs > 0) this.#disarm = clock.after(leftMs, () => this.#arm());
    else caller.destroy();
  }
}
