import type { ClaimOutcome, ClaimSurvey, RouterPresence, ShardClaim, Versioned } from '../../src/shard-claims/index.js';

/** A bucket in obvious code, which also sees whether the claims that it was given follow each other as they must. */
export class NaiveBucket {
  #revision = 0;
  readonly #claims = new Map<number, Versioned<ShardClaim>>();
  readonly #routers = new Map<string, Versioned<RouterPresence>>();
  /** Sentences on what must never happen. */
  readonly violations: string[] = [];
  /** How often a shard came to another owner than before. */
  moves = 0;

  survey(): ClaimSurvey {
    return { claims: new Map(this.#claims), routers: new Map(this.#routers) };
  }

  revisionOf(shard: number): number {
    return this.#claims.get(shard)?.revision ?? 0;
  }

  claim(shard: number, claim: ShardClaim, replaces: number): ClaimOutcome {
    if (this.revisionOf(shard) !== replaces) return { kind: 'conflict' };
    this.#judge(shard, claim);
    this.#revision += 1;
    this.#claims.set(shard, { value: claim, revision: this.#revision });
    return { kind: 'written', revision: this.#revision };
  }

  present(router: RouterPresence): ClaimOutcome {
    this.#revision += 1;
    this.#routers.set(router.incarnation, { value: router, revision: this.#revision });
    return { kind: 'written', revision: this.#revision };
  }

  leave(incarnation: string): void {
    this.#routers.delete(incarnation);
  }

  #judge(shard: number, next: ShardClaim): void {
    const before = this.#claims.get(shard)?.value ?? { owner: null, term: 0 };
    const isSame = before.owner?.incarnation === next.owner?.incarnation;
    if (next.owner !== null && !isSame) this.moves += 1;
    const isRightTerm = next.owner === null || isSame ? next.term === before.term : next.term === before.term + 1;
    if (!isRightTerm) this.violations.push(`shard ${shard}: term ${next.term} after ${before.term}`);
  }
}
