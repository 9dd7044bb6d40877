import { PlatformError, type EndpointId } from '@berth/domain';
import type { AppendOutcome, LogBatch, LogBroker, LogEntry, LogHead } from '@berth/endpoint-log';
import { IDLE, type LogWorld, type SimulatedProcess } from './log-world.js';
import type { ModelLogBroker } from './model-log-broker.js';

/** Shares of all requests to which it happens. */
export interface BrokerFaults {
  /** An append never arrives. */
  readonly lost: number;
  /** It is stored, and the answer never arrives. */
  readonly unanswered: number;
  /** It arrives seconds later, behind others. */
  readonly late: number;
  /** It arrives twice; the answer is to either. */
  readonly twice: number;
  /** It conflicts with another in flight that is not stored either. */
  readonly phantom: number;
  readonly full: number;
  /** A look shows what was. */
  readonly stale: number;
  readonly unreadable: number;
  /** A purge is lost, cut, late, or its answer is. */
  readonly purge: number;
}

export const NO_BROKER_FAULTS: BrokerFaults = {
  ...{ lost: 0, unanswered: 0, late: 0, twice: 0, phantom: 0, full: 0, stale: 0, unreadable: 0, purge: 0 },
};

/** Ms without an answer after which an append is `unknown`. */
const ANSWER_MAX_MS = 2_000;
const LATE_MAX_MS = 12_000;
const HOP_MAX_MS = 8;
const LAG_MAX = 4;
const PAGE_MAX = 5;

/** What all connections to the one broker of a world share. */
export class BrokerWeather {
  faults: BrokerFaults = NO_BROKER_FAULTS;
  /** Until then no leader of the logs answers. */
  leaderAwayUntilMs = 0;
  /** Until then claims cannot be renewed. */
  bucketAwayUntilMs = 0;
  readonly counts: Record<string, number> = {};

  count(fault: string): void {
    this.counts[fault] = (this.counts[fault] ?? 0) + 1;
  }
}

/** One process's connection to the model broker: everything takes time, and goes wrong as the weather has it. */
export class FaultyLogBroker implements LogBroker {
  readonly #world: LogWorld;
  readonly #process: SimulatedProcess;
  readonly #model: ModelLogBroker;
  readonly #weather: BrokerWeather;

  constructor({
    model,
    process,
    weather,
    world,
  }: {
    readonly world: LogWorld;
    readonly process: SimulatedProcess;
    readonly model: ModelLogBroker;
    readonly weather: BrokerWeather;
  }) {
    this.#world = world;
    this.#process = process;
    this.#model = model;
    this.#weather = weather;
  }

  append(batch: LogBatch): Promise<AppendOutcome> {
    return new Promise((resolve) => {
      let isAnswered = false;
      const tell = (outcome: AppendOutcome): typeof IDLE | void => {
        if (isAnswered) return IDLE;
        isAnswered = true;
        resolve(outcome);
      };
      this.#send(batch, (outcome) => this.#world.post(this.#process, this.#hop(), () => tell(outcome)));
      this.#world.post(this.#process, ANSWER_MAX_MS, () => tell({ kind: 'unknown', reason: 'no answer' }));
    });
  }

  #send(batch: LogBatch, answer: (outcome: AppendOutcome) => void): void {
    const fault = this.#pickFault();
    if (fault !== null) this.#weather.count(fault);
    const awayMs = this.#awayMs();
    if (awayMs > 0) {
      this.#weather.count('leader away');
      // Without a leader it waits in the network, or goes.
      if (this.#world.random.chance(0.5)) this.#arrive(batch, awayMs + this.#hop(), answer);
      return;
    }
    switch (fault) {
      case 'lost':
        return;
      case 'unanswered':
        this.#arrive(batch, this.#hop(), () => undefined);
        return;
      case 'late':
        this.#arrive(batch, this.#world.random.integer(100, LATE_MAX_MS), answer);
        return;
      case 'twice': {
        const isSecondTold = this.#world.random.chance(0.6);
        this.#arrive(batch, this.#hop(), isSecondTold ? () => undefined : answer);
        const afterMs = this.#world.random.chance(0.5) ? 2 * HOP_MAX_MS : this.#world.random.integer(20, LATE_MAX_MS);
        this.#arrive(batch, afterMs, isSecondTold ? answer : () => undefined);
        return;
      }
      case 'phantom':
        answer({ kind: 'conflict' });
        return;
      case 'full':
        answer({ kind: 'full' });
        return;
      case null:
        this.#arrive(batch, this.#hop(), answer);
    }
  }

  #pickFault(): 'lost' | 'unanswered' | 'late' | 'twice' | 'phantom' | 'full' | null {
    let left = this.#world.random.fraction();
    for (const fault of ['lost', 'unanswered', 'late', 'twice', 'phantom', 'full'] as const) {
      left -= this.#weather.faults[fault];
      if (left < 0) return fault;
    }
    return null;
  }

  #arrive(batch: LogBatch, afterMs: number, answer: (outcome: AppendOutcome) => void): void {
    const { outside, random } = this.#world;
    this.#world.post(outside, afterMs, () => {
      const awayMs = this.#awayMs();
      if (awayMs > 0) {
        if (random.chance(0.5)) this.#arrive(batch, awayMs + this.#hop(), answer);
        return;
      }
      if (random.chance(0.3)) this.#model.skipSequences(random.integer(1, 3));
      answer(this.#model.store(batch));
    });
  }

  async readNext(endpointId: EndpointId, after: number): Promise<LogEntry | null> {
    await this.#pass(this.#hop());
    const isAway = this.#awayMs() > 0;
    if (isAway && this.#world.random.chance(0.5)) await this.#fail('no leader');
    if (this.#world.random.chance(this.#weather.faults.unreadable)) await this.#fail('readNext');
    // While leaders change the old one may still answer.
    const found = this.#view(endpointId, isAway).find(({ sequence }) => sequence > after) ?? null;
    await this.#pass(this.#hop());
    return found;
  }

  async *read(endpointId: EndpointId, after: number): AsyncGenerator<LogEntry> {
    const { random } = this.#world;
    for (let behind = after; ;) {
      await this.#pass(this.#hop());
      if (random.chance(this.#weather.faults.unreadable)) await this.#fail('read');
      const isStale = random.chance(this.#weather.faults.stale);
      const found = this.#view(endpointId, isStale).filter(({ sequence }) => sequence > behind);
      const page = found.slice(0, random.integer(1, PAGE_MAX) * 4);
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length === found.length) return;
      behind = last.sequence;
    }
  }

  async purge(endpointId: EndpointId, through: number): Promise<void> {
    const { outside, random } = this.#world;
    await this.#pass(this.#hop());
    if (this.#awayMs() > 0) await this.#fail('no leader');
    if (!random.chance(this.#weather.faults.purge)) {
      this.#model.remove(endpointId, through);
      await this.#pass(this.#hop());
      return;
    }
    const fault = random.pick(['lost', 'unanswered', 'late', 'cut'] as const);
    this.#weather.count(`purge ${fault}`);
    if (fault === 'unanswered') this.#model.remove(endpointId, through);
    if (fault === 'late') {
      this.#world.post(outside, random.integer(100, LATE_MAX_MS), () => this.#model.remove(endpointId, through));
    }
    if (fault === 'cut') {
      const going = this.#model.view(endpointId).filter(({ sequence }) => sequence <= through);
      if (going.length > 0) this.#model.remove(endpointId, random.pick(going).sequence);
    }
    await this.#fail('purge');
  }

  async *heads(): AsyncGenerator<LogHead> {
    await this.#pass(this.#hop());
    const isStale = this.#world.random.chance(this.#weather.faults.stale);
    yield* this.#model.headsNow(isStale ? this.#world.random.integer(1, LAG_MAX) : 0);
  }

  #view(endpointId: EndpointId, isStale: boolean): readonly LogEntry[] {
    if (!isStale) return this.#model.view(endpointId);
    this.#weather.count('stale');
    return this.#model.view(endpointId, this.#world.random.integer(1, LAG_MAX));
  }

  async #fail(what: string): Promise<never> {
    this.#weather.count(`unavailable ${what}`);
    await this.#pass(this.#world.random.chance(0.5) ? this.#hop() : ANSWER_MAX_MS);
    throw new PlatformError('service-unavailable', what);
  }

  #awayMs(): number {
    return Math.max(0, this.#weather.leaderAwayUntilMs - this.#world.nowMs);
  }

  #hop(): number {
    return this.#world.random.integer(0, HOP_MAX_MS);
  }

  #pass(ms: number): Promise<void> {
    return new Promise((resolve) => this.#world.post(this.#process, ms, resolve));
  }
}
