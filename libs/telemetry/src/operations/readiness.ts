import type { Clock } from '@berth/lifecycle';

/** Resolves when the dependency can be used, rejects with the reason when it cannot. */
export type DependencyCheck = (signal: AbortSignal) => Promise<void>;

export interface DependencyState {
  readonly state: 'up' | 'down';
  /** Why it is down. */
  readonly reason?: string;
}

export interface ReadinessReport {
  /**
   * `starting`: not everything that it needs is even known yet; `stopping`: the process finishes what it has and takes
   * nothing new.
   */
  readonly status: 'starting' | 'ready' | 'not-ready' | 'stopping';
  readonly dependencies: Readonly<Record<string, DependencyState>>;
  /**
   * The things that work less well than they should, in words; absent while there are none. It does not decide the
   * status.
   */
  readonly degraded?: readonly string[];
}

const CHECK_LIMIT_MS = 2_000;

/** The parts that this process needs in order to serve, each with a name and a check. */
export class Readiness {
  readonly #clock: Clock;
  readonly #checks = new Map<string, DependencyCheck>();
  readonly #degradations: (() => readonly string[])[] = [];
  #phase: 'starting' | 'serving' | 'stopping' = 'starting';

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(name: string, check: DependencyCheck): void {
    this.#checks.set(name, check);
  }

  /** @param read what works less well than it should, in words; asked for each report */
  addDegradation(read: () => readonly string[]): void {
    this.#degradations.push(read);
  }

  /** Everything has been started: from now on the dependencies decide. */
  start(): void {
    this.#phase = 'serving';
  }

  /** From now on the process reports that it is not to be sent anything. */
  stop(): void {
    this.#phase = 'stopping';
  }

  async report(): Promise<ReadinessReport> {
    const states = await Promise.all(
      [...this.#checks].map(async ([name, check]) => [name, await this.#ask(check)] as const),
    );
    const isUp = states.every(([, { state }]) => state === 'up');
    const served = isUp ? 'ready' : 'not-ready';
    const status = this.#phase === 'serving' ? served : this.#phase;
    const degraded = this.#degradations.flatMap((read) => read());
    return { status, dependencies: Object.fromEntries(states), ...(degraded.length > 0 && { degraded }) };
  }

  async #ask(check: DependencyCheck): Promise<DependencyState> {
    const limit = new AbortController();
    const late = this.#clock.sleep(CHECK_LIMIT_MS, limit.signal).then(() => {
      throw new Error(`no answer within ${CHECK_LIMIT_MS} ms`);
    });
    try {
      await Promise.race([check(limit.signal), late]);
      return { state: 'up' };
    } catch (error) {
      return { state: 'down', reason: error instanceof Error ? error.message : String(error) };
    } finally {
      // The sleep ends early and its error has nobody left to tell.
      late.catch(() => undefined);
      limit.abort();
    }
  }
}
