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
  type ClaimDecision,
  type ClaimWriteKind,
  type ClaimsState,
  type ClaimsView,
  type PresenceDecision,
} from '../../src/shard-claims/index.js';
import type { Fault, Surroundings } from './surroundings.js';

const LOOK_EVERY_MS = 250;
const SURVEY_EVERY_MS = 1_000;

/** A router's loop in obvious code, with a clock of its own, that may freeze and die. */
export class SimulatedRouter {
  readonly incarnation: string;
  readonly state: ClaimsState;
  isDead = false;
  isProvenDead = false;
  isStopping = false;
  readonly #world: Surroundings;
  readonly #offsetMs: number;
  #frozenUntilMs = 0;
  #surveySentAtMs = Number.NEGATIVE_INFINITY;
  /** Answers to what was sent over an earlier connection get lost. */
  #connection = 0;

  constructor(world: Surroundings, index: number) {
    this.#world = world;
    this.incarnation = `router-${index}`;
    const { reads: all = [1], shards } = world.options;
    const reads = all[index % all.length] ?? 1;
    this.state = newClaimsState({ routerId: `r${index}`, incarnation: this.incarnation, reads }, shards);
    this.#offsetMs = world.chance.integer(-1_000_000, 1_000_000);
    this.#later(world.chance.integer(0, LOOK_EVERY_MS), () => this.#tick());
  }

  get localMs(): number {
    return this.#world.nowMs + this.#offsetMs;
  }

  strike(fault: Fault): void {
    if (fault.kind === 'freeze') this.#frozenUntilMs = Math.max(this.#frozenUntilMs, fault.atMs + fault.lengthMs);
    if (fault.kind === 'stop') this.isStopping = true;
    if (fault.kind === 'disconnect') this.#do(() => this.#disconnect());
    if (fault.kind !== 'death') return;
    this.isDead = true;
    this.isProvenDead = fault.isProven;
  }

  #disconnect(): void {
    this.#connection += 1;
    noteDisconnect(this.state, this.localMs);
  }

  /** Runs now or, in a frozen process, when it wakes: everything then happens in the order in which it came. */
  #do(run: () => void): void {
    if (this.isDead) return;
    if (this.#world.nowMs < this.#frozenUntilMs) this.#world.at(this.#frozenUntilMs, () => this.#do(run));
    else run();
  }

  #later(ms: number, run: () => void): void {
    this.#world.at(this.#world.nowMs + ms, () => this.#do(run));
  }

  #tick(): void {
    this.#later(LOOK_EVERY_MS, () => this.#tick());
    if (this.localMs - this.#surveySentAtMs >= SURVEY_EVERY_MS) this.#survey();
    this.#look();
  }

  #survey(): void {
    const sentAtMs = this.localMs;
    this.#surveySentAtMs = sentAtMs;
    this.#exchange(
      () => this.#world.bucket.survey(),
      (survey) => {
        if (survey !== null) noteSurvey(this.state, { survey, sentAtMs }, this.localMs);
      },
    );
  }

  #exchange<Answer>(perform: () => Answer, answered: (answer: Answer | null) => void): void {
    const connection = this.#connection;
    this.#world.exchange(perform, (answer) =>
      this.#do(() => {
        answered(connection === this.#connection ? answer : null);
        this.#look();
      }),
    );
  }

  #look(): void {
    const { doctor } = this.#world.options;
    doctor?.state?.(this.state, this.localMs);
    const view: ClaimsView = {
      dead: this.#world.dead,
      formatOf: (shard) => this.#world.formatOf(shard),
      isStopping: this.isStopping,
    };
    for (const decision of decidePresence(this.state, view, this.localMs)) this.#show(decision);
    for (const decision of decideClaims(this.state, view, this.localMs)) this.#perform(decision);
  }

  #show(decision: PresenceDecision): void {
    const { bucket } = this.#world;
    if (decision.kind === 'strike-off') {
      beginStrikeOff(this.state, decision.incarnation, this.localMs);
      this.#exchange(
        () => bucket.leave(decision.incarnation),
        () => undefined,
      );
      return;
    }
    beginPresence(this.state, this.localMs);
    this.#exchange(
      () => bucket.present(this.state.self),
      (answer) => endPresence(this.state, answer ?? { kind: 'unknown' }, this.localMs),
    );
  }

  #perform(decision: ClaimDecision): void {
    if (decision.kind === 'none') return;
    if (decision.kind !== 'drain') {
      this.#write(decision.shard, decision.kind);
      return;
    }
    beginDrain(this.state, decision.shard, this.localMs);
    this.#later(this.#world.chance.integer(1, 500), () => {
      noteDrained(this.state, decision.shard);
      this.#look();
    });
  }

  #write(shard: number, kind: ClaimWriteKind): void {
    const { bucket, options } = this.#world;
    const begun = beginWrite(this.state, { shard, kind }, this.localMs);
    if (begun === null) throw new Error(`shard ${shard}: ${kind} was decided and cannot be begun`);
    const write = options.doctor?.write?.(begun, kind) ?? begun;
    this.#exchange(
      () =>
        bucket.claim(
          shard,
          write.claim,
          options.doctor?.replaces?.(write, { kind, actual: bucket.revisionOf(shard) }) ?? write.replaces,
        ),
      (answer) => {
        const answered = options.doctor?.answered?.(begun, this.localMs) ?? begun;
        const known = this.state.shards[shard];
        if (known !== undefined) known.inFlight = answered;
        if (answer?.kind === 'conflict') this.#surveySentAtMs = Number.NEGATIVE_INFINITY;
        endWrite(this.state, { write: answered, outcome: answer ?? { kind: 'unknown' } }, this.localMs);
      },
    );
  }
}
