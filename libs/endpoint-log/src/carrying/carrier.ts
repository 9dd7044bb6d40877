import {
  CARRY_AGE_MIN_MS,
  NO_CARRY_REST,
  carryReason,
  isCarryWorth,
  restAfterLook,
  type Carry,
  type CarryReason,
  type CarryRest,
  type EndpointId,
  type LogReader,
  type PurgeableDecision,
} from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { OpenLog, SettledAnswer } from '../commit/open-log.js';
import type { LogBroker } from '../ports/log-broker.port.js';
import { batchesOf, readReferences } from './read-references.js';

export interface CarrierOptions {
  readonly endpointId: EndpointId;
  readonly log: OpenLog;
  readonly broker: LogBroker;
  readonly clock: Clock;
  /** How far the shard's log may be purged, as far as the follower is concerned. */
  readonly purgeable: () => PurgeableDecision;
  /** Something that is carried has gone, though it was not read. */
  readonly onUnreadPurged: (reason: UnreadPurge) => void;
}

/** Why what was carried does not wait any longer for the follower of the log. */
export type UnreadPurge = Exclude<PurgeableDecision['reason'], 'read'>;

/** Where a log begins, and where it may begin. */
export interface LogExtent {
  /** Everything at this sequence or before it has been carried, or is dead. */
  readonly covers: number;
  /** Everything at this sequence or before it is gone from the log. */
  readonly purged: number;
}

/** The outcome of one step. `unsettled`: the log was let go of, or too much waits. */
export type CarryStep =
  | { readonly kind: 'carried'; readonly reason: CarryReason; readonly covers: number }
  | { readonly kind: 'rested' }
  | { readonly kind: 'unsettled' };

/**
 * Keeps one log short: what lives in its oldest part is written whole once more, and then that part goes. Each step is one
 * ordinary batch, with other facts before and behind it. Safe to end at every point: what was carried and not purged is
 * purged by the next owner.
 */
export class Carrier {
  readonly #options: CarrierOptions;
  #rest: CarryRest = NO_CARRY_REST;
  #extent: LogExtent;

  constructor(options: CarrierOptions, extent: LogExtent) {
    this.#options = options;
    this.#extent = extent;
  }

  /** False while something that is carried lies in the log still, since not everybody has read it. */
  get isPurged(): boolean {
    return this.#extent.purged >= this.#extent.covers;
  }

  /**
   * One step, where it pays.
   *
   * @throws PlatformError `service-unavailable` when the broker does not answer
   */
  async step({ isClosing }: { readonly isClosing: boolean }): Promise<CarryStep> {
    await this.#purge();
    const { clock, log } = this.#options;
    const size = { logBytes: log.ledger.bytes, oldestAtMs: log.ledger.oldestAtMs, isClosing };
    const reason = carryReason(size, this.#rest, clock.nowMs());
    if (reason === null) return { kind: 'rested' };
    const outcome = await this.#carry(reason);
    if (outcome.kind !== 'settled') return { kind: 'unsettled' };
    if (outcome.answer.kind !== 'carried') {
      this.#rest = restAfterLook(size, clock.nowMs());
      return { kind: 'rested' };
    }
    this.#rest = NO_CARRY_REST;
    this.#extent = { ...this.#extent, covers: outcome.answer.covers };
    await this.#purge();
    return { kind: 'carried', reason, covers: outcome.answer.covers };
  }

  async #carry(reason: CarryReason): Promise<SettledAnswer<Carry>> {
    const { broker, endpointId } = this.#options;
    const outcome = await this.#ask(reason, UNREAD);
    if (outcome.kind !== 'settled' || outcome.answer.kind !== 'unread') return outcome;
    return this.#ask(reason, await readReferences(batchesOf(broker, endpointId), outcome.answer.references));
  }

  #ask(reason: CarryReason, reader: LogReader): Promise<SettledAnswer<Carry>> {
    const { clock, log } = this.#options;
    const frame = {
      through: log.ledger.through(clock.nowMs() - CARRY_AGE_MIN_MS),
      log: reader,
      isWorth: (covers: number, writtenBytes: number) =>
        isCarryWorth(reason, { removedBytes: log.ledger.bytesThrough(covers), writtenBytes }),
    };
    return new Promise((resolve) => log.carry(frame, resolve));
  }

  /** The covered part goes, as far as the follower of the log has read it, or need not be waited for. */
  async #purge(): Promise<void> {
    const { broker, endpointId, log, onUnreadPurged, purgeable } = this.#options;
    const decision = purgeable();
    const through = Math.min(this.#extent.covers, decision.through);
    if (through <= this.#extent.purged) return;
    await broker.purge(endpointId, through);
    this.#extent = { ...this.#extent, purged: through };
    log.ledger.purged(through);
    if (decision.reason !== 'read' && through > decision.readThrough) onUnreadPurged(decision.reason);
  }
}

const UNREAD: LogReader = { body: () => undefined, output: () => undefined };
