import { advanceState } from './apply/advance-state.js';
import { applyFact, type AppliedFact } from './apply/apply-fact.js';
import type { TouchedJob } from './apply/touched-job.js';
import { decideCarry, type Carry, type CarryFrame } from './carrying/carry.js';
import type { AttemptProof, CommandAnswer, EndpointCommand } from './commands.js';
import { decideCommand, findExpired } from './decide/decide-command.js';
import type { LogFact } from './facts.js';
import { renewLease, type LeaseRenewal } from './leases.js';
import type { EndpointState } from './state.js';
import type { LogPlace } from './structures/carry-list.js';

/** Adds a fact to what shall be committed, and says where that will lie: one object for all facts of a batch. */
type WriteFact = (fact: LogFact) => LogPlace;

/** At which time something is done, and where its facts go. */
export interface CommandContext {
  /** Unix ms. */
  readonly nowMs: number;
  readonly write: WriteFact;
}

/** The news of the touched jobs may be told once the facts are committed. */
export type Performance<Answer> =
  | { readonly kind: 'performed'; readonly touched: readonly TouchedJob[]; readonly answer: Answer }
  /** One step of several: to be called once more, after whatever else waits where it likes to. */
  | { readonly kind: 'again'; readonly touched: readonly TouchedJob[] }
  /** It can only come of a fault in here: nothing that is not committed yet is to be, and the endpoint stops. */
  | Extract<AppliedFact, { readonly kind: 'illegal' }>;

type Again = Extract<CommandAnswer, { readonly kind: 'again' }>;

/** The outcome of a command in the end. */
export type CommandOutcome = Exclude<CommandAnswer, Again>;

/** A command, and what shall be told of the endpoint beside what it came to. */
export interface ViewedCommand<Value> {
  readonly command: EndpointCommand;
  readonly view: (state: EndpointState, outcome: CommandOutcome, atMs: number) => Value;
}

export interface ViewedOutcome<Value> {
  readonly outcome: CommandOutcome;
  readonly view: Value;
}

/** The instant that facts have: a clock that is put back stands still here. */
const instantOf = (state: EndpointState, nowMs: number): number => Math.max(nowMs, state.lastAtMs);

/** Brings the state to now, before anything is decided. Returns the instant of the facts. */
function advance(state: EndpointState, nowMs: number): number {
  const atMs = instantOf(state, nowMs);
  advanceState(state, atMs);
  return atMs;
}

/** One step of a command: decided, and applied ahead of the disk. */
export function performCommand(
  state: EndpointState,
  command: EndpointCommand,
  { nowMs, write }: CommandContext,
): Performance<CommandOutcome> {
  const { answer, facts } = decideCommand(state, command, advance(state, nowMs));
  return performFacts(state, facts, { write, answer });
}

/** One step of a command, and how the endpoint looks where that is the last one. */
export function performViewed<Value>(
  state: EndpointState,
  { command, view }: ViewedCommand<Value>,
  context: CommandContext,
): Performance<ViewedOutcome<Value>> {
  const performed = performCommand(state, command, context);
  if (performed.kind !== 'performed') return performed;
  const { answer: outcome } = performed;
  return { ...performed, answer: { outcome, view: view(state, outcome, instantOf(state, context.nowMs)) } };
}

/** A look at the endpoint. Expired things go first, so that no view has to ask for them. */
export function performRead<Value>(
  state: EndpointState,
  view: (state: EndpointState, atMs: number) => Value,
  { nowMs, write }: CommandContext,
): Performance<Value> {
  const atMs = advance(state, nowMs);
  const expired = findExpired(state, atMs);
  if (expired !== null) return performFacts<never>(state, [expired], { write, answer: { kind: 'again' } });
  return { kind: 'performed', touched: [], answer: view(state, atMs) };
}

/** Prolongs leases of one host; the outcomes are in the order of the proofs. */
export function performRenewals(
  state: EndpointState,
  proofs: readonly AttemptProof[],
  { nowMs, write }: CommandContext,
): Performance<readonly LeaseRenewal['outcome'][]> {
  const atMs = advance(state, nowMs);
  const renewals = proofs.map((proof) => renewLease(state, proof, atMs));
  const facts = renewals.flatMap(({ fact }) => fact ?? []);
  return performFacts(state, facts, { write, answer: renewals.map(({ outcome }) => outcome) });
}

/** Writes the oldest part of the log whole once more. `unread`: nothing was done, and something is to be read first. */
export function performCarry(
  state: EndpointState,
  { nowMs, write, ...frame }: CommandContext & Omit<CarryFrame, 'atMs'>,
): Performance<Carry> {
  const carry = decideCarry(state, { ...frame, atMs: advance(state, nowMs) });
  return performFacts(state, carry.kind === 'carried' ? carry.facts : [], { write, answer: carry });
}

function performFacts<Answer>(
  state: EndpointState,
  facts: readonly LogFact[],
  { answer, write }: { readonly write: WriteFact; readonly answer: Answer | Again },
): Performance<Answer> {
  const touched: TouchedJob[] = [];
  for (const fact of facts) {
    const applied = applyFact(state, fact, write(fact));
    if (applied.kind === 'illegal') return applied;
    if (applied.kind === 'applied') touched.push(...applied.touched);
  }
  return isAgain(answer) ? { kind: 'again', touched } : { kind: 'performed', touched, answer };
}

const isAgain = <Answer>(answer: Answer | Again): answer is Again =>
  typeof answer === 'object' && answer !== null && 'kind' in answer && answer.kind === 'again';
