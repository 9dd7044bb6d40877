import type { EndpointId } from '../ids.js';
import type { Demand } from '../scaling/index.js';
import type { Worker, WorkerPhase } from '../worker/index.js';
import type { EndpointPlan } from './endpoint-plan.js';
import type { ScalingRecord } from './fleet.js';
import type { FleetOperation } from './fleet-operation.js';

/** What a scaling decision rested on. */
export interface DecisionInputs {
  /** Null: nobody knew which jobs there are. */
  readonly demand: {
    /** Normal jobs that waited; those of low priority bring no worker. */
    readonly queued: number;
    readonly queuedLow: number;
    readonly running: number;
    /** How long the oldest of them had waited; null where none waited. */
    readonly oldestWaitMs: number | null;
  } | null;
  /** The endpoint's workers by phase; `placed`: its host has not reported it yet. What is not there is 0. */
  readonly workers: Readonly<Partial<Record<WorkerPhase | 'placed', number>>>;
}

/** What followed of a decision. */
export interface DecisionOutcome {
  readonly created: number;
  /** Told to leave, those that were evicted included. */
  readonly drained: number;
  /** Paused workers among these whose place goes to another worker. Absent of an entry that is older than this count. */
  readonly evicted?: number;
  /** Frozen for want of jobs. Absent of an entry that is older than this count. */
  readonly paused?: number;
  /** Wanted again, after they had been told to leave or were paused. */
  readonly resumed: number;
  /** Workers that were there no more. */
  readonly forgotten: number;
  /** Wanted and without a place, and the one reason of them all. */
  readonly unplaced: number;
  readonly unplacedReason: string | null;
}

/** One entry of the history of an endpoint's scaling. */
export interface DecisionRecord {
  readonly endpointId: EndpointId;
  readonly atMs: number;
  readonly desiredBefore: number;
  readonly desired: number;
  readonly reason: string;
  readonly detail: string;
  readonly inputs: DecisionInputs;
  readonly outcome: DecisionOutcome;
}

type StaffPlan = EndpointPlan & { readonly kind: 'staff' };

export interface CarriedOut {
  /** The endpoint's workers as the plan saw them. */
  readonly before: readonly Worker[];
  /** What of the plan was done. */
  readonly done: readonly FleetOperation[];
}

/**
 * The entry that a plan adds to the history, or null where it adds none: neither the number nor its reason has changed,
 * nothing was done, and the same workers wait for a place for the same reason.
 */
export function describeDecision(plan: StaffPlan, { before, done }: CarriedOut, nowMs: number): DecisionRecord | null {
  const { decision, demand, endpoint, unplaced } = plan;
  const { deletedAtMs, id: endpointId, lastDecision } = endpoint;
  const { desiredWorkers: desired, detail, reason } = decision;
  const outcome = outcomeOf(done, unplaced);
  const isSame = lastDecision !== null && lastDecision.desired === desired && lastDecision.reason === reason;
  const isNews = !isSame || isActive(outcome) || waitsOtherwise(plan, lastDecision);
  // A deleted endpoint takes its history with it.
  if (deletedAtMs !== null || !isNews) return null;
  return {
    ...{ endpointId, atMs: nowMs, desiredBefore: lastDecision?.desired ?? 0, desired, reason, detail },
    inputs: { demand: demand === null ? null : seenOf(demand, nowMs), workers: byPhase(before) },
    outcome,
  };
}

function outcomeOf(done: readonly FleetOperation[], unplaced: StaffPlan['unplaced']): DecisionOutcome {
  const count = (kind: FleetOperation['kind']): number => done.filter((each) => each.kind === kind).length;
  return {
    created: count('create-worker'),
    drained: count('drain-worker'),
    evicted: done.filter((each) => each.kind === 'drain-worker' && each.reason === 'evicted').length,
    paused: count('pause-worker'),
    resumed: count('resume-worker'),
    forgotten: count('forget-worker'),
    unplaced: unplaced?.count ?? 0,
    unplacedReason: unplaced?.why.reason ?? null,
  };
}

const isActive = ({ created, drained, forgotten, paused = 0, resumed }: DecisionOutcome): boolean =>
  created + drained + paused + resumed + forgotten > 0;

/** As many are kept as are told at most, so more than these are the same. */
const waitsOtherwise = ({ waiting }: StaffPlan, before: ScalingRecord): boolean =>
  waiting.length !== before.waiting.length || waiting[0]?.reason !== before.waiting[0]?.reason;

const seenOf = (
  { oldestQueuedAtMs, queuedLow, queuedNormal: queued, running }: Demand,
  nowMs: number,
): DecisionInputs['demand'] => ({
  ...{ queued, queuedLow, running },
  oldestWaitMs: oldestQueuedAtMs === null ? null : Math.max(0, Math.round(nowMs - oldestQueuedAtMs)),
});

function byPhase(workers: readonly Worker[]): DecisionInputs['workers'] {
  const phases = Map.groupBy(workers, ({ observed }) => observed?.phase ?? 'placed');
  return Object.fromEntries([...phases].map(([phase, same]) => [phase, same.length]));
}
