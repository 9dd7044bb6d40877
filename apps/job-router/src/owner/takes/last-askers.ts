import type { TakeAsker } from '@berth/contracts';

/** More answers than leave an owner in the second in which the broker says that one was heard by no host. */
const GENERATION_MAX = 4_096;

/**
 * The last askers for takes that were answered with jobs, of the latest 4,096 at least. A router whose answer was not
 * heard may take its jobs back only if its host has not asked another router for them since (ADR 0050).
 */
export class LastAskers {
  /** Secrets by take id; the older generation is dropped when the younger one is full. */
  #young = new Map<string, string>();
  #old = new Map<string, string>();

  note({ secret, takeId }: TakeAsker): void {
    if (this.#young.size >= GENERATION_MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(takeId, secret);
  }

  /** A host asks for it: its jobs are with no host until it is answered. */
  forget({ takeId }: Pick<TakeAsker, 'takeId'>): void {
    this.#young.delete(takeId);
    this.#old.delete(takeId);
  }

  isLast({ secret, takeId }: TakeAsker): boolean {
    return (this.#young.get(takeId) ?? this.#old.get(takeId)) === secret;
  }
}
