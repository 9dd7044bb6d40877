import type { AttemptRef } from '@berth/contracts';
import { attemptId } from './attempt.js';

const KEPT_MS = 60_000;
const KEPT_MAX = 1_000;

/** Stops that overtook the reply that brings their job. */
export class EarlyStops {
  readonly #stops = new Map<string, { readonly token: string; readonly untilMs: number }>();

  remember(ref: AttemptRef, nowMs: number): void {
    this.#prune(nowMs);
    this.#stops.set(attemptId(ref), { token: ref.token, untilMs: nowMs + KEPT_MS });
  }

  /** True when this attempt was to be stopped; forgets it. */
  takeOut(ref: AttemptRef, nowMs: number): boolean {
    const stop = this.#stops.get(attemptId(ref));
    this.#stops.delete(attemptId(ref));
    return stop !== undefined && stop.token === ref.token && nowMs < stop.untilMs;
  }

  /** The map keeps the order of insertion, so the oldest stand first. */
  #prune(nowMs: number): void {
    for (const [id, { untilMs }] of this.#stops) {
      if (nowMs < untilMs && this.#stops.size < KEPT_MAX) return;
      this.#stops.delete(id);
    }
  }
}
