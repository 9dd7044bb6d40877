import type { EndpointId, JobKey, Leftovers } from '@berth/domain';
import { retry, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import { isUnavailable } from '../../owners/index.js';
import type { JetStreamAttachments } from '@berth/messaging';

export interface LeftoverRemovalsOptions {
  readonly attachments: Pick<JetStreamAttachments, 'remove'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Told of each removal: what became of it. */
  readonly onOver: (outcome: 'removed' | 'given-up' | 'crowded-out') => void;
}

interface Removal {
  readonly key: JobKey;
  readonly leftovers: Leftovers;
}

/** Removals that wait, of one endpoint and in all. Behind them stands the time to live of what is to be removed. */
const ENDPOINT_MAX = 5_000;
const ALL_MAX = 50_000;
const PARALLEL = 4;
/** About a minute of a broker that does not answer. */
const RETRIES = { attemptsMax: 6, baseDelayMs: 1_000, maxDelayMs: 30_000 } as const;

/**
 * Removes what lies beside the logs and is needed no more, in the background. Endpoints take turns, so that one with many
 * jobs keeps no other's payloads on the disk.
 */
export class LeftoverRemovals {
  readonly #options: LeftoverRemovalsOptions;
  readonly #end = new AbortController();
  /** In the order of their turns; none that has nothing to remove. */
  readonly #waiting = new Map<EndpointId, Removal[]>();
  readonly #lanes = new Set<Promise<void>>();
  #count = 0;

  constructor(options: LeftoverRemovalsOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#count;
  }

  add(key: JobKey, leftovers: Leftovers): void {
    const { endpointId } = key;
    const own = this.#waiting.get(endpointId) ?? [];
    if (this.#end.signal.aborted || own.length >= ENDPOINT_MAX || this.#count >= ALL_MAX) {
      this.#options.onOver('crowded-out');
      return;
    }
    own.push({ key, leftovers });
    this.#waiting.set(endpointId, own);
    this.#count += 1;
    if (this.#lanes.size >= PARALLEL) return;
    const lane = this.#work().finally(() => this.#lanes.delete(lane));
    this.#lanes.add(lane);
  }

  /**
   * Begins nothing more, and asks once more at most for what is under way. The leftovers that stay go by their time to
   * live.
   */
  async stop(): Promise<void> {
    this.#end.abort();
    this.#waiting.clear();
    this.#count = 0;
    await Promise.all(this.#lanes);
  }

  /** Never rejects. */
  async #work(): Promise<void> {
    for (let removal = this.#take(); removal !== null; removal = this.#take()) await this.#remove(removal);
  }

  async #remove({ key, leftovers }: Removal): Promise<void> {
    const { attachments, clock, logger, onOver, random } = this.#options;
    try {
      const tools = { ...RETRIES, clock, random, isRetriable: isUnavailable, signal: this.#end.signal };
      await retry(() => attachments.remove(key, leftovers), tools);
      onOver('removed');
    } catch (error) {
      onOver('given-up');
      logger.warn('what a job has left could not be removed; it goes by its time to live', { ...key, error });
    }
  }

  #take(): Removal | null {
    const [turn] = this.#waiting;
    if (turn === undefined) return null;
    const [endpointId, removals] = turn;
    const removal = removals.shift();
    this.#waiting.delete(endpointId);
    if (removals.length > 0) this.#waiting.set(endpointId, removals);
    this.#count -= 1;
    return removal ?? null;
  }
}
