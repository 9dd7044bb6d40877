import { CLAIM_UNMOVED_MS, UNKNOWN_ROUTER } from '@berth/domain';
import type { ClaimOutcome, ClaimSurvey, RouterPresence, ShardClaim, ShardClaims } from '@berth/endpoint-log';
import type { Clock } from '@berth/lifecycle';

interface SeenClaim {
  /** Incarnation of the owner; null: it was handed over. */
  readonly owner: string | null;
  readonly revision: number;
  /** Since when that revision lies there, monotonic. */
  readonly sinceMs: number;
}

/** Surveys come once a second; after this it is not known what there is. */
const SURVEY_OLD_MS = 5_000;
/** The second above is for surveys that come late. */
const SILENT_MS = CLAIM_UNMOVED_MS + 1_000;

/** The bucket of claims, and what its surveys say of all routers' shards beside this one's. */
export class WatchedClaims implements ShardClaims {
  readonly #claims: ShardClaims;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #shardCount: number;
  readonly #seen = new Map<number, SeenClaim>();
  #routers: readonly string[] = [];
  #surveyedAtMs = Number.NEGATIVE_INFINITY;

  constructor(claims: ShardClaims, clock: Pick<Clock, 'monotonicMs'>, shardCount: number) {
    this.#claims = claims;
    this.#clock = clock;
    this.#shardCount = shardCount;
  }

  /** Incarnations that own a shard, or say that they live, as far as anybody can read who they are. */
  get routers(): ReadonlySet<string> {
    const owners = [...this.#seen.values()].flatMap(({ owner }) => owner ?? []);
    const known = new Set([...owners, ...this.#routers]);
    known.delete(UNKNOWN_ROUTER.incarnation);
    return known;
  }

  /** As the last survey shows it. */
  shardsOf(incarnation: string): ReadonlySet<number> {
    return new Set([...this.#seen].flatMap(([shard, { owner }]) => (owner === incarnation ? [shard] : [])));
  }

  /** Shards without a known owner: what their endpoints are asked waits. */
  get unowned(): readonly number[] {
    const nowMs = this.#clock.monotonicMs();
    const isKnown = nowMs - this.#surveyedAtMs < SURVEY_OLD_MS;
    const shards = Array.from({ length: this.#shardCount }, (_, shard) => shard);
    return shards.filter((shard) => {
      const seen = this.#seen.get(shard);
      return !isKnown || seen === undefined || seen.owner === null || nowMs - seen.sinceMs >= SILENT_MS;
    });
  }

  async survey(): Promise<ClaimSurvey> {
    const survey = await this.#claims.survey();
    const nowMs = this.#clock.monotonicMs();
    this.#surveyedAtMs = nowMs;
    this.#routers = [...survey.routers.keys()];
    for (const [shard, { revision, value }] of survey.claims) {
      const before = this.#seen.get(shard);
      const sinceMs = before?.revision === revision ? before.sinceMs : nowMs;
      this.#seen.set(shard, { owner: value.owner?.incarnation ?? null, revision, sinceMs });
    }
    return survey;
  }

  claim(shard: number, claim: ShardClaim, revision: number): Promise<ClaimOutcome> {
    return this.#claims.claim(shard, claim, revision);
  }

  present(router: RouterPresence): Promise<ClaimOutcome> {
    return this.#claims.present(router);
  }

  leave(incarnation: string): Promise<void> {
    return this.#claims.leave(incarnation);
  }
}
