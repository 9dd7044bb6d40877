import { advanceState } from './apply/advance-state.js';
import { applyFact, type AppliedFact } from './apply/apply-fact.js';
import type { TouchedJob } from './apply/touched.js';
import type { CommandAnswer, EndpointCommand, CommandDecision } from './commands.js';
import { decideCommand } from './decide/decide-command.js';
import type { LogFact } from './facts.js';
import type { EndpointState } from './state.js';
import type { LogPlace } from './structures/carry-list.js';

/** Adds a fact to what shall be committed, and says where that will lie: one object for all facts of a batch. */
export type WriteFact = (fact: LogFact) => LogPlace;

/** What a command did: to be written together, and told once it is. */
interface PerformedCommand {
  readonly facts: readonly LogFact[];
  readonly touched: readonly TouchedJob[];
  readonly answer: CommandAnswer;
}

export type CommandPerformance = PerformedCommand | Extract<AppliedFact, { readonly kind: 'illegal' }>;

/** The instant that facts have: a clock that is put back stands still here. */
export const instantOf = (state: EndpointState, nowMs: number): number => Math.max(nowMs, state.lastAtMs);

/**
 * One step of a command: decided, and applied ahead of the disk. Where the answer is `again`, the owner calls once more,
 * after whatever else waits where it likes to.
 *
 * An illegal fact can only come of a fault in here: nothing that is not committed yet is to be, and the endpoint stops.
 */
export function performCommand(
  state: EndpointState,
  command: EndpointCommand,
  { nowMs, write }: { readonly nowMs: number; readonly write: WriteFact },
): CommandPerformance {
  const atMs = instantOf(state, nowMs);
  advanceState(state, atMs);
  return applyDecision(state, decideCommand(state, command, atMs), write);
}

/** Applies what was decided on this very state. */
export function applyDecision(
  state: EndpointState,
  { answer, facts }: CommandDecision,
  write: WriteFact,
): CommandPerformance {
  const touched: TouchedJob[] = [];
  for (const fact of facts) {
    const applied = applyFact(state, fact, write(fact));
    if (applied.kind === 'illegal') return applied;
    if (applied.kind === 'applied') touched.push(...applied.touched);
  }
  return { facts, touched, answer };
}
