import { applyFact } from '../../src/endpoint-jobs/apply/apply-fact.js';
import type { TouchedJob } from '../../src/endpoint-jobs/apply/touched-job.js';
import { advanceState } from '../../src/endpoint-jobs/apply/advance-state.js';
import { CARRY_AGE_MIN_MS } from '../../src/endpoint-jobs/bounds.js';
import { decideCarry, type LogReader, type LogReference } from '../../src/endpoint-jobs/carrying/carry.js';
import type {
  CommandAnswer,
  AttemptProof,
  EndpointCommand,
  CommandDecision,
} from '../../src/endpoint-jobs/commands.js';
import { decideCommand } from '../../src/endpoint-jobs/decide/decide-command.js';
import type { LogFact } from '../../src/endpoint-jobs/facts.js';
import { findBody, findOutput } from '../../src/endpoint-jobs/find-payload.js';
import { hearHosts, renewLease } from '../../src/endpoint-jobs/leases.js';
import { newEndpointState, type EndpointState } from '../../src/endpoint-jobs/state.js';
import type { LogPlace } from '../../src/endpoint-jobs/structures/carry-list.js';

interface Batch {
  readonly sequence: number;
  readonly previous: number;
  readonly atMs: number;
  readonly text: string;
}

/** What a fault in the rules would do; each of them must be found. */
export interface Doctor {
  readonly command?: (command: EndpointCommand, state: EndpointState) => EndpointCommand;
  readonly decision?: (decision: CommandDecision, state: EndpointState) => CommandDecision;
  readonly carried?: (facts: readonly LogFact[]) => readonly LogFact[];
  readonly purgeThrough?: (covers: number) => number;
  /** Told of each fact of this owner, after what it did. */
  readonly onFact?: (fact: LogFact, touched: readonly TouchedJob[], state: EndpointState) => void;
}

/** One endpoint with its owner and its log: batches of JSON lines, committed late, carried and purged. */
export class OwnedLog {
  state = newEndpointState(0);
  batches: Batch[] = [];
  readonly #doctor: Doctor;
  /** Batches whose answer is not here yet. */
  #uncommitted: { readonly place: LogPlace; readonly sequence: number }[] = [];
  /** Other endpoints' batches lie between. */
  #sequence = 0;

  constructor(doctor: Doctor = {}) {
    this.#doctor = doctor;
  }

  performCommand(command: EndpointCommand, nowMs: number): CommandAnswer {
    for (;;) {
      const atMs = instantOf(this.state, nowMs);
      advanceState(this.state, atMs);
      const asked = this.#doctor.command?.(command, this.state) ?? command;
      const decided = decideCommand(this.state, asked, atMs);
      const decision = this.#doctor.decision?.(decided, this.state) ?? decided;
      this.#write(decision.facts, atMs);
      if (decision.answer.kind !== 'again') return decision.answer;
    }
  }

  renew(proof: AttemptProof, nowMs: number): string {
    const atMs = instantOf(this.state, nowMs);
    const { outcome, fact } = renewLease(this.state, proof, atMs);
    if (fact !== null) this.#write([fact], atMs);
    return outcome;
  }

  hear(nowMs: number): void {
    hearHosts(this.state, instantOf(this.state, nowMs));
  }

  /** The broker acknowledges what was appended. */
  commit(): void {
    for (const { place, sequence } of this.#uncommitted) place.sequence = sequence;
    this.#uncommitted = [];
  }

  /** @param share of what may be purged, 0 to 1 */
  carry(nowMs: number, share: number): void {
    this.commit();
    const atMs = instantOf(this.state, nowMs);
    const old = this.batches.filter((batch) => atMs - batch.atMs >= CARRY_AGE_MIN_MS);
    const through = old[Math.floor((old.length - 1) * share)]?.sequence ?? 0;
    let carry = decideCarry(this.state, { atMs, through, log: UNREAD, isWorth: () => true });
    if (carry.kind === 'unread')
      carry = decideCarry(this.state, { atMs, through, log: this.#reader(), isWorth: () => true });
    if (carry.kind === 'unread') throw new Error(`not in the log: ${JSON.stringify(carry.references)}`);
    if (carry.kind !== 'carried') return;
    this.#write(this.#doctor.carried?.(carry.facts) ?? carry.facts, atMs);
    this.commit();
    const purged = this.#doctor.purgeThrough?.(carry.covers) ?? carry.covers;
    this.batches = this.batches.filter(({ sequence }) => sequence > purged);
  }

  /** The state that a new owner reads. */
  replay(): EndpointState {
    const state = newEndpointState(this.batches[0]?.previous ?? 0);
    for (const { sequence, text } of this.batches) {
      const place = { sequence };
      for (const line of text.split('\n')) this.#apply(state, JSON.parse(line) as LogFact, place);
    }
    if (!state.isWhole) throw new Error('the log is not whole');
    return state;
  }

  facts(): readonly LogFact[] {
    return this.batches.flatMap(({ text }) => text.split('\n').map((line) => JSON.parse(line) as LogFact));
  }

  #write(facts: readonly LogFact[], atMs: number): void {
    if (facts.length === 0) return;
    const previous = this.#sequence;
    this.#sequence += previous === 0 ? 41 : 3;
    const text = facts.map((fact) => JSON.stringify(fact)).join('\n');
    const place: LogPlace = { sequence: null };
    for (const fact of facts) this.#apply(this.state, fact, place);
    this.#uncommitted.push({ place, sequence: this.#sequence });
    this.batches.push({ sequence: this.#sequence, previous, atMs, text });
  }

  #apply(state: EndpointState, fact: LogFact, place: LogPlace): void {
    const applied = applyFact(state, fact, place);
    if (applied.kind === 'illegal') throw new Error(`illegal: ${JSON.stringify(applied)}`);
    if (applied.kind === 'applied' && state === this.state) this.#doctor.onFact?.(fact, applied.touched, state);
  }

  #reader(): LogReader {
    const factsAt = ({ sequence }: LogReference): readonly LogFact[] => {
      const text = this.batches.find((batch) => batch.sequence === sequence)?.text ?? '';
      return text === '' ? [] : text.split('\n').map((line) => JSON.parse(line) as LogFact);
    };
    return {
      body: (reference) => findBody(factsAt(reference), reference) ?? undefined,
      output: (reference) => findOutput(factsAt(reference), reference) ?? undefined,
    };
  }
}

const instantOf = (state: EndpointState, nowMs: number): number => Math.max(nowMs, state.lastAtMs);

const UNREAD: LogReader = { body: () => undefined, output: () => undefined };
