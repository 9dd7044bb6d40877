import { PlatformError } from '@berth/domain';
import type {
  ClaimOutcome,
  ClaimSurvey,
  RouterPresence,
  ShardClaim,
  ShardClaims,
  Versioned,
} from '@berth/endpoint-log';
import type { Clock } from '@berth/lifecycle';

interface Listed {
  readonly entry: Versioned<RouterPresence>;
  readonly writtenAtMs: number;
}

/** The bucket of claims in memory, which the ports of several routers share. */
export class ModelClaimBucket {
  readonly #clock: Clock;
  readonly #presenceMs: number;
  readonly #claims = new Map<number, Versioned<ShardClaim>>();
  readonly #routers = new Map<string, Listed>();
  #revision = 0;
  #leader = Promise.withResolvers<void>();

  /** @param presenceMs how long a router that says nothing more is told of */
  constructor(clock: Clock, presenceMs = 60_000) {
    this.#clock = clock;
    this.#presenceMs = presenceMs;
    this.#leader.resolve();
    this.hasLeader = true;
  }

  hasLeader: boolean;

  /** From now on nobody can read or write. */
  loseLeader(): void {
    if (!this.hasLeader) return;
    this.hasLeader = false;
    this.#leader = Promise.withResolvers<void>();
  }

  findLeader(): void {
    this.hasLeader = true;
    this.#leader.resolve();
  }

  /** Resolves while there is a leader. */
  get leader(): Promise<void> {
    return this.#leader.promise;
  }

  claim(shard: number, claim: ShardClaim, revision: number): ClaimOutcome {
    if ((this.#claims.get(shard)?.revision ?? 0) !== revision) return { kind: 'conflict' };
    this.#revision += 1;
    this.#claims.set(shard, { value: claim, revision: this.#revision });
    return { kind: 'written', revision: this.#revision };
  }

  present(router: RouterPresence): ClaimOutcome {
    this.#revision += 1;
    const entry = { value: router, revision: this.#revision };
    this.#routers.set(router.incarnation, { entry, writtenAtMs: this.#clock.monotonicMs() });
    return { kind: 'written', revision: this.#revision };
  }

  leave(incarnation: string): void {
    this.#routers.delete(incarnation);
  }

  survey(): ClaimSurvey {
    const sinceMs = this.#clock.monotonicMs() - this.#presenceMs;
    for (const [incarnation, { writtenAtMs }] of this.#routers) {
      if (writtenAtMs <= sinceMs) this.#routers.delete(incarnation);
    }
    const routers = [...this.#routers].map(([incarnation, { entry }]) => [incarnation, entry] as const);
    return { claims: new Map(this.#claims), routers: new Map(routers) };
  }
}

/** What may go wrong between a router and the bucket; each may be changed at any time. */
export interface ClaimTroubles {
  requestDelayMs: number;
  answerDelayMs: number;
  /** Whether what is written is written without a word. */
  losesAnswers: boolean;
  /** Whether a request that finds no leader waits for the next one, instead of being lost. */
  keepsRequests: boolean;
}

const ANSWER_TIMEOUT_MS = 5_000;

/** One router's way to a bucket in memory. */
export class ModelShardClaims implements ShardClaims {
  readonly troubles: ClaimTroubles = {
    requestDelayMs: 0,
    answerDelayMs: 0,
    losesAnswers: false,
    keepsRequests: false,
  };
  readonly #clock: Clock;
  readonly #bucket: ModelClaimBucket;

  constructor(clock: Clock, bucket: ModelClaimBucket) {
    this.#clock = clock;
    this.#bucket = bucket;
  }

  async survey(): Promise<ClaimSurvey> {
    const survey = await this.#exchange(() => this.#bucket.survey());
    if (survey === null) throw new PlatformError('service-unavailable', 'The claims cannot be read.');
    return survey;
  }

  async claim(shard: number, claim: ShardClaim, revision: number): Promise<ClaimOutcome> {
    return (await this.#exchange(() => this.#bucket.claim(shard, claim, revision))) ?? { kind: 'unknown' };
  }

  async present(router: RouterPresence): Promise<ClaimOutcome> {
    return (await this.#exchange(() => this.#bucket.present(router))) ?? { kind: 'unknown' };
  }

  async leave(incarnation: string): Promise<void> {
    await this.#exchange(() => this.#bucket.leave(incarnation));
  }

  /** Null: no answer came. */
  async #exchange<Answer>(perform: () => Answer): Promise<Answer | null> {
    const { answerDelayMs, keepsRequests, losesAnswers, requestDelayMs } = this.troubles;
    await this.#wait(requestDelayMs);
    if (!this.#bucket.hasLeader) {
      if (!keepsRequests) return this.#silence();
      await this.#bucket.leader;
    }
    const answer = perform();
    if (losesAnswers) return this.#silence();
    await this.#wait(answerDelayMs);
    return answer;
  }

  async #silence(): Promise<null> {
    await this.#clock.sleep(ANSWER_TIMEOUT_MS);
    return null;
  }

  async #wait(ms: number): Promise<void> {
    if (ms > 0) await this.#clock.sleep(ms);
  }
}
