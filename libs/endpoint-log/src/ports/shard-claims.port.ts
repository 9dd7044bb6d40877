import type { ClaimOutcome, ClaimSurvey, RouterPresence, ShardClaim } from '@berth/domain';

export type { ClaimOutcome, ClaimSurvey, RouterPresence, ShardClaim, Versioned } from '@berth/domain';

/** The bucket of claims. */
export interface ShardClaims {
  /**
   * Everything, as the bucket's leader has it.
   *
   * @throws PlatformError `service-unavailable` when it does not come whole
   */
  survey(): Promise<ClaimSurvey>;
  /** @param revision of what it replaces; 0: there is nothing */
  claim(shard: number, claim: ShardClaim, revision: number): Promise<ClaimOutcome>;
  /** Says that the router lives. Only it writes its entry, so the newest one counts. */
  present(router: RouterPresence): Promise<ClaimOutcome>;
  /** The router is gone, by its own word or proven. */
  leave(incarnation: string): Promise<void>;
}
