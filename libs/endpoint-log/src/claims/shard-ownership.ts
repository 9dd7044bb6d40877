import {
  beginDrain,
  beginPresence,
  beginStrikeOff,
  beginWrite,
  decideClaims,
  decidePresence,
  endPresence,
  endWrite,
  newClaimsState,
  noteDisconnect,
  noteDrained,
  noteSurvey,
  termOfShard,
  trustsShard,
  type ClaimChange,
  type ClaimDecision,
  type ClaimsState,
  type ClaimsView,
  type PresenceDecision,
} from '@berth/domain';
import { ControlLoop } from '@berth/lifecycle';
import type { ClaimOutcome } from '../ports/shard-claims.port.js';
import {
  ANSWER_WAIT_MAX_MS,
  DRAIN_MAX_MS,
  HAND_OVER_MAX_MS,
  LOOK_EVERY_MS,
  SURVEYS_MAX,
  SURVEY_EVERY_MS,
  WRITES_MAX,
  type ShardOwnershipOptions,
} from './ownership-options.js';

type DrainDecision = Extract<ClaimDecision, { kind: 'drain' }>;
type WriteDecision = Exclude<ClaimDecision, { kind: 'none' | 'drain' }>;

const NAME = 'shard.claims';
const UNKNOWN: ClaimOutcome = { kind: 'unknown' };

/**
 * Which shards this router owns, kept true in the bucket of claims. Everything is decided anew at each look from what is known
 * then, so a look too many does nothing, and one that is missing is made up for by the next.
 */
export class ShardOwnership {
  readonly #options: ShardOwnershipOptions;
  readonly #state: ClaimsState;
  readonly #loop: ControlLoop;
  readonly #trusted = new Set<number>();
  readonly #handedOver = Promise.withResolvers<void>();
  #surveyedAtMs = Number.NEGATIVE_INFINITY;
  #surveys = 0;
  #writes = 0;
  #isStopping = false;
  #isOver = false;

  constructor(options: ShardOwnershipOptions) {
    this.#options = options;
    this.#state = newClaimsState(options.self, options.shardCount);
    this.#loop = new ControlLoop({
      name: NAME,
      intervalMs: LOOK_EVERY_MS,
      clock: options.clock,
      onError: options.onError,
      run: () => Promise.resolve(this.#tick()),
    });
  }

  /** Starting twice is the same as starting once. */
  start(): void {
    this.#loop.start();
  }

  /** Whether this router may decide for the shard at this very instant, also if it has just woken from a long sleep. */
  trusts(shard: number): boolean {
    return trustsShard(this.#state, shard, this.#nowMs);
  }

  /** The term of a shard that is this router's, trusted or not; null: it is not. */
  termOf(shard: number): number | null {
    return termOfShard(this.#state, shard);
  }

  /** The connection to the broker is lost: nothing is trusted until a renewal that is sent from now on is acknowledged. */
  disconnected(): void {
    noteDisconnect(this.#state, this.#nowMs);
    this.#tellTrust();
  }

  /**
   * The router ends: drains and hands over every shard, and takes no more. Again is the same as once.
   *
   * @returns the shards that could not be handed over in `HAND_OVER_MAX_MS`
   */
  async handOver(): Promise<readonly number[]> {
    this.#isStopping = true;
    this.#look();
    await this.#within(HAND_OVER_MAX_MS, this.#handedOver.promise);
    // Answers from now on must not bring about anything new.
    this.#isOver = true;
    await this.#loop.stop();
    await this.#within(ANSWER_WAIT_MAX_MS, this.#leave(this.#state.self.incarnation));
    return this.#ownShards();
  }

  get #nowMs(): number {
    return this.#options.clock.monotonicMs();
  }

  #ownShards(): readonly number[] {
    return this.#state.shards.map(({ shard }) => shard).filter((shard) => this.termOf(shard) !== null);
  }

  #tick(): void {
    const nowMs = this.#nowMs;
    if (nowMs - this.#surveyedAtMs >= SURVEY_EVERY_MS && this.#surveys < SURVEYS_MAX) {
      this.#surveyedAtMs = nowMs;
      void this.#survey(nowMs);
    }
    this.#look();
  }

  async #survey(sentAtMs: number): Promise<void> {
    this.#surveys += 1;
    try {
      const survey = await this.#options.claims.survey();
      this.#tell(noteSurvey(this.#state, { survey, sentAtMs }, this.#nowMs));
      this.#look();
    } catch (error) {
      this.#options.onError(NAME, error);
    } finally {
      this.#surveys -= 1;
    }
  }

  #look(): void {
    if (!this.#isOver) this.#safely(() => this.#decide());
  }

  #decide(): void {
    const { formatOf, provenDead } = this.#options;
    const view: ClaimsView = { dead: provenDead(), formatOf, isStopping: this.#isStopping };
    for (const decision of decidePresence(this.#state, view, this.#nowMs)) void this.#show(decision);
    const decisions = decideClaims(this.#state, view, this.#nowMs);
    // Owned shards are kept before more are taken.
    for (const decision of decisions) if (decision.kind === 'renew') void this.#write(decision);
    for (const decision of decisions) this.#begin(decision);
    this.#tellTrust();
    const isUnderWay = this.#state.shards.some(({ inFlight }) => inFlight !== null);
    if (this.#isStopping && !isUnderWay && this.#ownShards().length === 0) this.#handedOver.resolve();
  }

  #begin(decision: ClaimDecision): void {
    switch (decision.kind) {
      case 'none':
      case 'renew':
        return;
      case 'drain':
        void this.#drain(decision);
        return;
      case 'take':
      case 'hand-over':
        void this.#write(decision);
        return;
      default:
        decision satisfies never;
    }
  }

  /** One that finds no room is decided again as soon as another is over. */
  async #write(decision: WriteDecision): Promise<void> {
    if (this.#writes >= WRITES_MAX) return;
    const { claims, listener } = this.#options;
    const write = beginWrite(this.#state, decision, this.#nowMs);
    if (write === null) return;
    this.#writes += 1;
    const outcome = await this.#answer(() => claims.claim(write.shard, write.claim, write.replaces));
    this.#writes -= 1;
    // Another router has written since the last survey, so the next one is worth having now.
    if (outcome.kind === 'conflict') this.#surveyedAtMs = Number.NEGATIVE_INFINITY;
    this.#tell(endWrite(this.#state, { write, outcome }, this.#nowMs));
    this.#safely(() => listener.onDone({ decision, outcome: outcome.kind }));
    this.#look();
  }

  async #drain(decision: DrainDecision): Promise<void> {
    beginDrain(this.#state, decision.shard, this.#nowMs);
    const draining = this.#withoutError(() => this.#options.drain(decision.shard));
    const isDrained = await this.#within(DRAIN_MAX_MS, draining);
    noteDrained(this.#state, decision.shard);
    this.#safely(() => this.#options.listener.onDone({ decision, outcome: isDrained ? 'drained' : 'overdue' }));
    this.#look();
  }

  async #show(decision: PresenceDecision): Promise<void> {
    const { claims, listener, self } = this.#options;
    if (decision.kind === 'strike-off') {
      beginStrikeOff(this.#state, decision.incarnation, this.#nowMs);
      const isDone = await this.#within(ANSWER_WAIT_MAX_MS, this.#leave(decision.incarnation));
      this.#safely(() => listener.onDone({ decision, outcome: isDone ? 'written' : 'unknown' }));
      return;
    }
    beginPresence(this.#state, this.#nowMs);
    const outcome = await this.#answer(() => claims.present(self));
    endPresence(this.#state, outcome, this.#nowMs);
    this.#safely(() => listener.onDone({ decision, outcome: outcome.kind }));
    this.#look();
  }

  #leave(incarnation: string): Promise<void> {
    return this.#withoutError(() => this.#options.claims.leave(incarnation));
  }

  /** A later answer counts as unknown: a survey shows what became of it. */
  async #answer(write: () => Promise<ClaimOutcome>): Promise<ClaimOutcome> {
    let outcome = UNKNOWN;
    const noted = this.#withoutError(async () => {
      outcome = await write();
    });
    return (await this.#within(ANSWER_WAIT_MAX_MS, noted)) ? outcome : UNKNOWN;
  }

  /** A process that was busy runs the timers that are due before it reads what has arrived, which is read first here. */
  async #within(ms: number, work: Promise<void>): Promise<boolean> {
    const { atEndOfTurn, clock } = this.#options;
    const patience = new AbortController();
    const late = clock
      .sleep(ms, patience.signal)
      .then(() => new Promise<void>((resolve) => atEndOfTurn(resolve)))
      .then(() => false);
    const isInTime = await Promise.race([work.then(() => true), late]);
    patience.abort();
    return isInTime;
  }

  async #withoutError(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      this.#options.onError(NAME, error);
    }
  }

  #safely(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.#options.onError(NAME, error);
    }
  }

  #tell(changes: readonly ClaimChange[]): void {
    const { listener } = this.#options;
    for (const change of changes) {
      this.#safely(() => {
        if (change.kind === 'taken') listener.onTaken(change.shard, change.term);
        else listener.onLost(change.shard, change.reason);
      });
    }
    this.#tellTrust();
  }

  #tellTrust(): void {
    for (const { shard } of this.#state.shards) {
      const isTrusted = this.trusts(shard);
      if (isTrusted === this.#trusted.has(shard)) continue;
      if (isTrusted) this.#trusted.add(shard);
      else this.#trusted.delete(shard);
      this.#safely(() => this.#options.listener.onTrustChanged(shard, isTrusted));
    }
  }
}
