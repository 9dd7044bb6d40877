import { isDeepStrictEqual } from 'node:util';
import {
  describeDecision,
  throttledCount,
  type CarriedOut,
  type EndpointPlan,
  type FleetOperation,
  type ScalingRecord,
  type Worker,
} from '@berth/domain';
import type { Logger } from '@berth/telemetry';
import { type LeaderTerm, requireTerm } from '../../leadership/index.js';
import type { ScalingHistoryStore } from '../../scaling-history/index.js';
import type { FleetStore } from '../fleet.store.js';
import type { DecisionCounts } from './decision-counts.js';

export interface DecisionTools {
  readonly store: Pick<FleetStore, 'saveScaling'>;
  readonly history: Pick<ScalingHistoryStore, 'append'>;
  /** Asked before each write. */
  readonly term: LeaderTerm;
  readonly logger: Logger;
  readonly counts: Pick<DecisionCounts, 'note'>;
}

export type StaffingPlan = EndpointPlan & { readonly kind: 'staff' };

/** A plan whose operations have been carried out, as far as they could be. */
export interface CarriedPlan {
  readonly plan: StaffingPlan;
  /** The endpoint's workers as the plan saw them. */
  readonly before: readonly Worker[];
  readonly done: readonly FleetOperation[];
}

/**
 * Writes down what was decided: the entry of the history first, then the decision itself. An entry that was lost on the
 * way is made again, as long as the decision is news.
 *
 * @throws TermOverError
 */
export async function writeDecision(
  { before, done, plan }: CarriedPlan,
  nowMs: number,
  tools: DecisionTools,
): Promise<void> {
  await keep(plan, { before, done }, { nowMs, tools });
  await save(plan, nowMs, tools);
}

async function keep(
  plan: StaffingPlan,
  carriedOut: CarriedOut,
  { nowMs, tools }: { readonly nowMs: number; readonly tools: DecisionTools },
): Promise<void> {
  const entry = describeDecision(plan, carriedOut, nowMs);
  if (entry === null) return;
  requireTerm(tools.term);
  await tools.history.append(entry);
}

/** A decision that says the same as the last one is not written again. */
async function save(plan: StaffingPlan, nowMs: number, tools: DecisionTools): Promise<void> {
  const { decision, endpoint, starts, unplaced, waiting } = plan;
  const { counts, logger, store, term } = tools;
  const { desiredWorkers: desired, detail, reason } = decision;
  const { id: endpointId, lastDecision } = endpoint;
  const known = { waiting, unplaced: throttledCount(unplaced), starts };
  const record: ScalingRecord = { endpointId, desired, reason, detail, ...known, decidedAtMs: nowMs };
  if (isDeepStrictEqual({ ...record, decidedAtMs: lastDecision?.decidedAtMs }, lastDecision)) return;
  requireTerm(term);
  await store.saveScaling(record);
  const before = lastDecision?.desired ?? 0;
  if (before === desired) return;
  counts.note(endpointId, reason);
  logger.info(`desired workers ${before} → ${desired}: ${reason}, ${detail}`, { endpointId });
}
