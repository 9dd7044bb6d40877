import { trustsShard } from '../../src/shard-claims/index.js';
import { Chance } from './chance.js';
import { NaiveBucket } from './naive-bucket.js';
import { SimulatedRouter } from './simulated-router.js';
import type { Fault, Surroundings, WorldOptions } from './surroundings.js';

interface WorldEvent {
  readonly atMs: number;
  readonly ordinal: number;
  readonly run: () => void;
}

const ANSWER_TIMEOUT_MS = 1_000;

/** Routers, a bucket and what lies between them, in a time of its own. The same options give the same story. */
export class ClaimsWorld implements Surroundings {
  readonly chance: Chance;
  readonly bucket = new NaiveBucket();
  readonly routers: SimulatedRouter[] = [];
  readonly violations: string[] = [];
  nowMs = 0;
  readonly #events: WorldEvent[] = [];
  #ordinal = 0;
  #stoppedUntilMs = 0;
  #roughUntilMs = 0;

  constructor(readonly options: WorldOptions) {
    this.chance = new Chance(options.seed);
    for (let at = 0; at < options.routers; at += 1) this.startRouter();
    for (const fault of options.faults) this.at(fault.atMs, () => this.#strike(fault));
  }

  startRouter(): void {
    this.routers.push(new SimulatedRouter(this, this.routers.length));
  }

  at(atMs: number, run: () => void): void {
    this.#ordinal += 1;
    const event = { atMs: Math.max(atMs, this.nowMs), ordinal: this.#ordinal, run };
    const behind = this.#events.findLastIndex((other) => other.atMs <= event.atMs);
    this.#events.splice(behind + 1, 0, event);
  }

  runUntil(untilMs: number): void {
    for (let next = this.#events[0]; next !== undefined && next.atMs <= untilMs; next = this.#events[0]) {
      this.#events.shift();
      this.nowMs = next.atMs;
      next.run();
      this.#checkTrust();
    }
    this.nowMs = untilMs;
  }

  /** Brings a request to the bucket, and its answer back; null: no answer came, though it may have been carried out. */
  exchange<Answer>(perform: () => Answer, answered: (answer: Answer | null) => void): void {
    const sentAtMs = this.nowMs;
    let isOver = false;
    const finish = (answer: Answer | null): void => {
      if (isOver) return;
      isOver = true;
      answered(answer);
    };
    this.at(sentAtMs + this.#delayMs(), () =>
      this.#arrive(() => {
        const answer = perform();
        const isLost = this.#isRough && this.chance.is(0.3);
        if (!isLost) this.at(this.nowMs + this.#delayMs(), () => finish(answer));
      }),
    );
    this.at(sentAtMs + ANSWER_TIMEOUT_MS, () => finish(null));
  }

  /** What arrives while there is no leader is dropped, or comes to the next one. */
  #arrive(carryOut: () => void): void {
    if (this.nowMs >= this.#stoppedUntilMs) carryOut();
    else if (this.chance.is(0.3)) this.at(this.#stoppedUntilMs, carryOut);
  }

  get #isRough(): boolean {
    return this.nowMs < this.#roughUntilMs;
  }

  #delayMs(): number {
    if (!this.#isRough || this.chance.is(0.6)) return this.chance.integer(1, 40);
    return this.chance.integer(40, this.chance.is(0.5) ? 900 : 6_000);
  }

  #strike(fault: Fault): void {
    switch (fault.kind) {
      case 'leader-change':
        this.#stoppedUntilMs = Math.max(this.#stoppedUntilMs, this.nowMs + fault.lengthMs);
        return;
      case 'rough':
        this.#roughUntilMs = Math.max(this.#roughUntilMs, this.nowMs + fault.lengthMs);
        return;
      case 'start':
        this.startRouter();
        return;
      case 'freeze':
      case 'death':
      case 'stop':
      case 'disconnect':
        this.routers[fault.router % this.routers.length]?.strike(fault);
        return;
      default:
        fault satisfies never;
    }
  }

  #checkTrust(): void {
    for (let shard = 0; shard < this.options.shards; shard += 1) {
      const trusting = this.trusting(shard);
      const names = trusting.map(({ incarnation }) => incarnation).join(' and ');
      if (trusting.length > 1) this.violations.push(`shard ${shard} is trusted by ${names}`);
      if (!trusting.every((router) => this.canRead(router, shard)))
        this.violations.push(`${names} cannot read ${shard}`);
    }
  }

  formatOf(shard: number): number {
    const { formats = [1] } = this.options;
    return formats[shard % formats.length] ?? 1;
  }

  canRead({ state }: SimulatedRouter, shard: number): boolean {
    return state.self.reads >= this.formatOf(shard);
  }

  /** The routers that trust a shard now, frozen ones too. */
  trusting(shard: number): readonly SimulatedRouter[] {
    return this.routers.filter((router) => !router.isDead && trustsShard(router.state, shard, router.localMs));
  }

  get dead(): ReadonlySet<string> {
    return new Set(this.routers.filter(({ isProvenDead }) => isProvenDead).map(({ incarnation }) => incarnation));
  }

  get living(): readonly SimulatedRouter[] {
    return this.routers.filter(({ isDead, isStopping }) => !isDead && !isStopping);
  }
}
