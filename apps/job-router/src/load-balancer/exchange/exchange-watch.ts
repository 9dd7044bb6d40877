import { bodyDueAfter, nextLimit, type DueLimit, type ExchangePhase, type TimeLimits } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';

export interface ExchangeWatchOptions {
  readonly clock: Clock;
  readonly limits: TimeLimits;
  /** The worker does not take what its caller has sent. */
  readonly isHeldUp: () => boolean;
  /** Called once, where a limit was reached. */
  readonly onDue: (code: DueLimit['code']) => void;
}

/** How far a request has come with its worker, and for how long it may stand still there. */
export class ExchangeWatch {
  readonly #options: ExchangeWatchOptions;
  readonly #admittedAtMs: number;
  #phase: ExchangePhase = 'sending';
  #movedAtMs: number;
  #bodyDueAtMs: number;
  #isOver = false;
  #disarm: (() => void) | undefined;

  constructor(options: ExchangeWatchOptions) {
    this.#options = options;
    this.#admittedAtMs = options.clock.monotonicMs();
    this.#movedAtMs = this.#admittedAtMs;
    this.#bodyDueAtMs = this.#admittedAtMs + options.limits.idleMs;
  }

  get phase(): ExchangePhase {
    return this.#phase;
  }

  /** Each phase has its own limit, which may come sooner than that of the one before. */
  enter(phase: ExchangePhase): void {
    this.#phase = phase;
    this.moved();
    this.arm();
  }

  /** A byte has come. */
  moved(): void {
    this.#movedAtMs = this.#options.clock.monotonicMs();
  }

  /** Bytes of the caller's body have come. */
  bodyCame(bytes: number): void {
    this.moved();
    this.#bodyDueAtMs = bodyDueAfter(this.#bodyDueAtMs, { bytes, nowMs: this.#movedAtMs }, this.#options.limits);
  }

  /** The worker takes again what it had held up, and its caller has all the time that it had at the beginning. */
  bodyTaken(): void {
    this.moved();
    this.#bodyDueAtMs = this.#movedAtMs + this.#options.limits.idleMs;
  }

  /** Looks when a limit would be reached without any progress, and then again. */
  arm(): void {
    this.#disarm?.();
    if (this.#isOver) return;
    const { clock, isHeldUp, limits, onDue } = this.#options;
    const { atMs, code } = nextLimit(
      {
        ...{ phase: this.#phase, admittedAtMs: this.#admittedAtMs, movedAtMs: this.#movedAtMs },
        ...{ bodyDueAtMs: this.#bodyDueAtMs, isHeldUp: isHeldUp() },
      },
      limits,
    );
    const leftMs = atMs - clock.monotonicMs();
    if (leftMs > 0) this.#disarm = clock.after(leftMs, () => this.arm());
    else onDue(code);
  }

  stop(): void {
    this.#isOver = true;
    this.#disarm?.();
  }
}
