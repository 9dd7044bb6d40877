import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';

export interface HostReturnOptions {
  /** Joins again with the secret that this host has. Rejects where it is not let in, with why and what to do. */
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
  /** Why it is not let in, as the log has it already. */
  #said: string | null = null;

  constructor(options: HostReturnOptions) {
    this.#options = options;
  }

  noteAdmitted(): void {
    this.#refusedSinceMs = null;
    this.#said = null;
  }

  /** Another connection was refused. Returns at once. */
  noteRefused(): void {
    const nowMs = this.#options.clock.monotonicMs();
    this.#refusedSinceMs ??= nowMs;
    const isEarly = nowMs - this.#refusedSinceMs < PATIENCE_MS || nowMs < this.#notBeforeMs;
    if (!isEarly && !this.#isRejoining) void this.#rejoin();
  }

  async #rejoin(): Promise<void> {
    const { clock, random, rejoin } = this.#options;
    this.#isRejoining = true;
    try {
      await rejoin();
    } catch (error) {
      this.#say((error as Error).message);
    } finally {
      this.#isRejoining = false;
      // Spread, so that the nodes of a cluster do not come at once.
      this.#notBeforeMs = clock.monotonicMs() + AGAIN_MS * (0.5 + random.fraction());
    }
  }

  /** Once for each reason: nothing comes of it before somebody has done what it says. */
  #say(why: string): void {
    const { logger } = this.#options;
    const words = 'the broker refuses this host, and it is not let in anew; trying on';
    if (this.#said === why) logger.debug(words, { why });
    else logger.warn(words, { why });
    this.#said = why;
  }
}
