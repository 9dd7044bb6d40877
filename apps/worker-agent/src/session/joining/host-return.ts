import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';

export interface HostReturnOptions {
  /** Joins again with the secret that this host has. Rejects where it is not let in. */
  readonly rejoin: () => Promise<void>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** A broker refuses everybody for a while when its admission starts. */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 60_000;

/** Joins again when the broker has not known this host for a while: an operator may have let a removed node in again. */
export class HostReturn {
  readonly #options: HostReturnOptions;
  #refusedSinceMs: number | null = null;
  #notBeforeMs = Number.NEGATIVE_INFINITY;
  #isRejoining = false;

  constructor(options: HostReturnOptions) {
    this.#options = options;
  }

  noteAdmitted(): void {
    this.#refusedSinceMs = null;
  }

  /** Another connection was refused. Returns at once. */
  noteRefused(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#refusedSinceMs ??= nowMs;
    const isEarly = nowMs - this.#refusedSinceMs < PATIENCE_MS || nowMs < this.#notBeforeMs;
    if (!isEarly && !this.#isRejoining) void this.#rejoin();
  }

  async #rejoin(): Promise<void> {
    const { clock, logger, random, rejoin } = this.#options;
    this.#isRejoining = true;
    try {
      await rejoin();
    } catch (error) {
      logger.warn('the broker refuses this host, and it is not let in anew; trying on', {
        why: (error as Error).message,
      });
    } finally {
      this.#isRejoining = false;
      // Spread, so that the nodes of a cluster do not come at once.
      this.#notBeforeMs = clock.monotonicMs() + AGAIN_MS * (0.5 + random.fraction());
    }
  }
}
