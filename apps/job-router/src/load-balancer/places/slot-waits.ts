import type { AssignedWorker } from '@berth/contracts';
import {
  afterWaitBegan,
  afterWaitEnded,
  afterWaitWithdrawn,
  chooseToWaitFor,
  type WorkerId,
  type WorkerRefusal,
} from '@berth/domain';
import type { Random } from '@berth/lifecycle';
import type { LinkStream } from '@berth/tunnel';
import { askWorker, type AskOptions } from './ask-worker.js';
import type { SeenWorkers } from './seen-workers.js';
import { wants, type Waiter } from './waiter.js';

export interface SlotWaitsOptions extends AskOptions {
  readonly workers: SeenWorkers;
  readonly random: Pick<Random, 'fraction'>;
  /** A slot came free, and is for whoever is first in line. */
  readonly onPlace: (worker: AssignedWorker, stream: LinkStream) => void;
  /** One ended without a slot; null: nobody needed it any more. */
  readonly onEnd: (reason: WorkerRefusal | null) => void;
}

interface Line {
  /** Those that wait, the first of each lane. */
  readonly fronts: readonly Waiter[];
  /** All that wait. */
  readonly count: number;
}

/**
 * The questions of one endpoint that wait at agents for the next slot of a full worker: one at each, so that this router has
 * its turn beside others, and no more than there are requests. They belong to no request: whoever is first in line when a
 * slot comes gets it, and may meanwhile have gone elsewhere.
 */
export class SlotWaits {
  readonly #options: SlotWaitsOptions;
  /** Oldest first. */
  readonly #waits = new Map<WorkerId, AbortController>();

  constructor(options: SlotWaitsOptions) {
    this.#options = options;
  }

  /** Begins those that are useful, and withdraws those that are not any more. */
  keep({ count, fronts }: Line, nowMs: number): void {
    for (const [id, wait] of this.#waits) {
      if (this.#waits.size > count || !fronts.some((front) => wants(front, id))) this.#withdraw(id, wait);
    }
    const isWaitedFor = (id: WorkerId): boolean => this.#waits.has(id);
    for (const { affinity } of fronts) {
      while (this.#waits.size < count) {
        const worker = chooseToWaitFor(this.#options.workers.pool(), affinity, { isWaitedFor, nowMs });
        if (worker === null) break;
        this.#begin(worker, nowMs);
      }
    }
  }

  #withdraw(id: WorkerId, wait: AbortController): void {
    this.#waits.delete(id);
    wait.abort();
  }

  #begin(worker: AssignedWorker, askedAtMs: number): void {
    const { onPlace, workers } = this.#options;
    const wait = new AbortController();
    this.#waits.set(worker.id, wait);
    workers.note(worker.id, afterWaitBegan);
    void askWorker(worker, wait.signal, { ...this.#options, mayWait: true }).then((answer) => {
      if (this.#waits.get(worker.id) === wait) this.#waits.delete(worker.id);
      if (answer.kind === 'admitted') onPlace(worker, answer.stream);
      else this.#ended(worker.id, wait.signal.aborted ? null : answer.reason, askedAtMs);
    });
  }

  #ended(id: WorkerId, reason: WorkerRefusal | null, askedAtMs: number): void {
    const { clock, onEnd, random, workers } = this.#options;
    const nowMs = clock.monotonicMs();
    workers.note(id, (load) =>
      reason === null
        ? afterWaitWithdrawn(load)
        : afterWaitEnded(load, { reason, nowMs, askedAtMs, spread: random.fraction() }),
    );
    onEnd(reason);
  }
}
