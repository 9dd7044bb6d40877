import type { ClaimDecision, LossReason, PresenceDecision } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { ClaimOutcome, RouterPresence, ShardClaims } from '../ports/shard-claims.port.js';

/** Something that was decided, and what came of it: what a metric counts and a log line tells. */
export type ClaimDeed =
  | {
      readonly decision: Exclude<ClaimDecision, { kind: 'none' | 'drain' }> | PresenceDecision;
      readonly outcome: ClaimOutcome['kind'];
    }
  | { readonly decision: Extract<ClaimDecision, { kind: 'drain' }>; readonly outcome: 'drained' | 'overdue' };

/** Told in the turn in which it is known. An error that they throw is one of the loop and stops nothing. */
export interface OwnershipListener {
  onTaken(shard: number, term: number): void;
  onLost(shard: number, reason: LossReason): void;
  /** At the next look, so up to `LOOK_EVERY_MS` late; `trusts` itself is exact. */
  onTrustChanged(shard: number, isTrusted: boolean): void;
  onDone(deed: ClaimDeed): void;
}

export interface ShardOwnershipOptions {
  readonly self: RouterPresence;
  readonly shardCount: number;
  readonly claims: ShardClaims;
  readonly clock: Clock;
  /** Calls `run` when this turn of the event loop is over: after what has arrived by now was read. */
  readonly atEndOfTurn: (run: () => void) => void;
  readonly listener: OwnershipListener;
  /**
   * Finishes what is under way for a shard and begins nothing more. The shard is handed over when it resolves, and
   * `DRAIN_MAX_MS` after its call in any case.
   */
  readonly drain: (shard: number) => Promise<void>;
  /** Incarnations whose process is proven dead. */
  readonly provenDead: () => ReadonlySet<string>;
  /** The newest format of a shard's logs; 0: any router reads them. */
  readonly formatOf: (shard: number) => number;
  readonly onError: (name: string, error: unknown) => void;
}

/** How often the router looks whether anything is due. */
export const LOOK_EVERY_MS = 250;
export const SURVEY_EVERY_MS = 1_000;
/** Without an answer for so long a write counts as unknown, and the next one may leave. */
export const ANSWER_WAIT_MAX_MS = 1_000;
/** Claims that are being written at one time. */
export const WRITES_MAX = 8;
/** Surveys that have not come back; a late one is still worth its revisions. */
export const SURVEYS_MAX = 3;
/** Below the trust, so that nobody waits long for a shard whose owner cannot finish. */
export const DRAIN_MAX_MS = 2_000;
/** A router that stops gives up handing over then; its claims are found silent. */
export const HAND_OVER_MAX_MS = 5_000;
