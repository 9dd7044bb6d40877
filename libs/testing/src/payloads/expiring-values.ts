import type { Clock } from '@berth/lifecycle';

interface Expiring<Value> {
  readonly value: Value;
  readonly sequence: number;
  readonly expiresAtMs: number;
}

/** Values that go when their time is over, as messages with a time to live do. */
export class ExpiringValues<Value> {
  readonly #clock: Pick<Clock, 'nowMs'>;
  readonly #values = new Map<string, Expiring<Value>>();
  #sequence = 0;

  constructor(clock: Pick<Clock, 'nowMs'>) {
    this.#clock = clock;
  }

  get(name: string): Expiring<Value> | null {
    const found = this.#values.get(name);
    return found === undefined || this.#clock.nowMs() >= found.expiresAtMs ? null : found;
  }

  /** Returns the sequence under which the value lies from now on. */
  set(name: string, value: Value, ttlMs: number): number {
    this.#sequence += 1;
    this.#values.set(name, { value, sequence: this.#sequence, expiresAtMs: this.#clock.nowMs() + ttlMs });
    return this.#sequence;
  }

  removeAll(): void {
    this.#values.clear();
  }

  removeBelow(prefix: string): void {
    for (const name of [...this.#values.keys()]) if (name.startsWith(`${prefix}/`)) this.#values.delete(name);
  }
}
