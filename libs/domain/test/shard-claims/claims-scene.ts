import {
  beginDrain,
  beginPresence,
  beginWrite,
  decideClaims,
  endPresence,
  endWrite,
  newClaimsState,
  noteDrained,
  noteSurvey,
  type ClaimChange,
  type ClaimDecision,
  type ClaimsState,
  type ClaimsView,
  type ClaimWrite,
  type ClaimWriteKind,
  type RouterPresence,
} from '../../src/shard-claims/index.js';
import { NaiveBucket } from './naive-bucket.js';

export const routerNamed = (incarnation: string, reads = 1): RouterPresence => ({
  routerId: `id-of-${incarnation}`,
  incarnation,
  reads,
});

const VIEW: ClaimsView = { dead: new Set(), formatOf: () => 1, isStopping: false };

/** One router over a bucket that answers at once, and other routers that write what the test says. */
export class ClaimsScene {
  readonly bucket = new NaiveBucket();
  readonly state: ClaimsState;
  nowMs = 50_000;

  constructor(
    readonly self: RouterPresence,
    shards: number,
  ) {
    this.state = newClaimsState(self, shards);
  }

  /** Lets time pass in which this router's signs of life are acknowledged, the others' come, and surveys are made. */
  pass(ms: number, others: readonly RouterPresence[] = []): readonly ClaimChange[] {
    const untilMs = this.nowMs + ms;
    const changes: ClaimChange[] = [];
    do {
      this.nowMs = Math.min(untilMs, this.nowMs + 500);
      for (const other of others) this.bucket.present(other);
      beginPresence(this.state, this.nowMs);
      endPresence(this.state, this.bucket.present(this.self), this.nowMs);
      changes.push(...this.survey());
    } while (this.nowMs < untilMs);
    return changes;
  }

  survey(): readonly ClaimChange[] {
    return noteSurvey(this.state, { survey: this.bucket.survey(), sentAtMs: this.nowMs }, this.nowMs);
  }

  /** What is decided, without that which rests. */
  decide(view: Partial<ClaimsView> = {}): readonly ClaimDecision[] {
    return decideClaims(this.state, { ...VIEW, ...view }, this.nowMs).filter(({ kind }) => kind !== 'none');
  }

  reasonFor(shard: number, view: Partial<ClaimsView> = {}): string | undefined {
    return decideClaims(this.state, { ...VIEW, ...view }, this.nowMs).find((decision) => decision.shard === shard)
      ?.reason;
  }

  begin(shard: number, kind: ClaimWriteKind): ClaimWrite {
    const write = beginWrite(this.state, { shard, kind }, this.nowMs);
    if (write === null) throw new Error('nothing to write');
    return write;
  }

  /** Carries decisions out; drains take no time. */
  perform(decisions: readonly ClaimDecision[]): readonly ClaimChange[] {
    return decisions.flatMap(({ shard, kind }) => {
      if (kind === 'none') return [];
      if (kind === 'drain') {
        beginDrain(this.state, shard, this.nowMs);
        noteDrained(this.state, shard);
      }
      const write = this.begin(shard, kind === 'drain' ? 'hand-over' : kind);
      const outcome = this.bucket.claim(shard, write.claim, write.replaces);
      return endWrite(this.state, { write, outcome }, this.nowMs);
    });
  }

  /** Another router's write, over whatever is there. */
  other(shard: number, owner: RouterPresence | null, term: number): void {
    this.bucket.claim(shard, { owner, term }, this.bucket.revisionOf(shard));
  }
}
