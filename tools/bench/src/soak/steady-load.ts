import { systemClock } from '@berth/lifecycle';
import { Pool } from 'undici';

const TICK_MS = 20;
/** A service that answers slower than this lets the load fall behind: what is not sent counts as failed. */
const UNDER_WAY_MAX = 512;
const REQUEST_TIMEOUT_MS = 60_000;

export interface SteadyLoadOptions {
  readonly origin: string;
  /** Each has its turn. */
  readonly paths: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly perSecond: number;
}

export interface LoadCounts {
  readonly accepted: number;
  /** Refused, broken off or never sent. */
  readonly failed: number;
  /** Of the accepted, in ms, ascending. */
  readonly latenciesMs: readonly number[];
}

/** Sends as many requests a second as it is told, whatever becomes of those before. */
export class SteadyLoad {
  readonly #options: SteadyLoadOptions;
  readonly #pool: Pool;
  readonly #stopTicks: () => void;
  readonly #underWay = new Set<Promise<void>>();
  #sent = 0;
  #failed = 0;
  #latenciesMs: number[] = [];

  constructor(options: SteadyLoadOptions) {
    const timeouts = { headersTimeout: REQUEST_TIMEOUT_MS, bodyTimeout: REQUEST_TIMEOUT_MS };
    this.#options = options;
    this.#pool = new Pool(options.origin, { connections: UNDER_WAY_MAX, ...timeouts });
    const beganAtMs = systemClock.monotonicMs();
    this.#stopTicks = systemClock.every(TICK_MS, () => {
      const due = ((systemClock.monotonicMs() - beganAtMs) * options.perSecond) / 1_000;
      for (; this.#sent < due; this.#sent += 1) this.#sendNext();
    });
  }

  /** Since it was asked last. */
  take(): LoadCounts {
    const latenciesMs = this.#latenciesMs.sort((a, b) => a - b);
    const counts = { accepted: latenciesMs.length, failed: this.#failed, latenciesMs };
    this.#latenciesMs = [];
    this.#failed = 0;
    return counts;
  }

  async stop(): Promise<void> {
    this.#stopTicks();
    await Promise.all(this.#underWay);
    await this.#pool.close();
  }

  #sendNext(): void {
    if (this.#underWay.size >= UNDER_WAY_MAX) {
      this.#failed += 1;
      return;
    }
    const sending = this.#send().finally(() => this.#underWay.delete(sending));
    this.#underWay.add(sending);
  }

  async #send(): Promise<void> {
    const { body, headers, paths } = this.#options;
    const beganAtMs = systemClock.monotonicMs();
    try {
      const path = paths[this.#sent % paths.length] ?? '';
      const answer = await this.#pool.request({ method: 'POST', path, headers, body });
      await answer.body.dump();
      if (answer.statusCode === 200) this.#latenciesMs.push(systemClock.monotonicMs() - beganAtMs);
      else this.#failed += 1;
    } catch {
      // Refused or silent: how many is what is told.
      this.#failed += 1;
    }
  }
}
