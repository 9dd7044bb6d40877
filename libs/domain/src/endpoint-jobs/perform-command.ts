import { advanceState } from './apply/advance-state.js';
import { applyFact, type AppliedFact } from './apply/apply-fact.js';
import type { TouchedJob } from './apply/touched.js';
import type { CommandAnswer, EndpointCommand, CommandDecision } from './commands.js';
import { decideCommand } from './decide/decide-command.js';
import type { LogFact } from './facts.js';
import type { EndpointState } from './state.js';
import type { LogPlace } from './structures/carry-list.js';

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
 * An illegal fact can only come of a fault in here: nothing of the command is to be written, and the endpoint stops.
 */
export function performCommand(
  state: EndpointState,
  command: EndpointCommand,
  { nowMs, place }: { readonly nowMs: number; readonly place: LogPlace },
): CommandPerformance {
  const atMs = instantOf(state, nowMs);
  advanceState(state, atMs);
  return applyDecision(state, decideCommand(state, command, atMs), place);
}

/** Applies what was decided on this very state. */
export function applyDecision(
  state: EndpointState,
  { answer, facts }: CommandDecision,
  place: LogPlace,
): CommandPerformance {
  const touched: TouchedJob[] = [];
  for (const fact of facts) {
    const applied = applyFact(state, fact, place);
    if (applied.kind === 'illegal') return applied;
    if (applied.kind === 'applied') touched.push(...applied.touched);
  }
  return { facts, touched, answer };
}
