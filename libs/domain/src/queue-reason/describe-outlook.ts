import type { Unplaced } from '../placement/index.js';
import {
  describeCrashLoop,
  type ObservedWorker,
  type ReleaseStarts,
  type Worker,
  type WorkerPhase,
} from '../worker/index.js';
import { clipText } from './clip-text.js';
import { comingWord } from './coming-word.js';
import {
  OUTLOOK_HOSTS_MAX,
  OUTLOOK_TEXT_MAX,
  OUTLOOK_WORKERS_MAX,
  type ComingReason,
  type ComingStage,
  type ComingWorker,
  type EndpointOutlook,
  type UnplacedWorkers,
} from './endpoint-outlook.js';

/** Progress of a preparation is told again after this time; every other change at once. */
export const OUTLOOK_PROGRESS_INTERVAL_MS = 5_000;

export interface OutlookFacts {
  readonly desired: number;
  readonly scalingReason: string;
  readonly workers: readonly Worker[];
  /** Null while every wanted worker has a place. */
  readonly unplaced: { readonly count: number; readonly sinceMs: number; readonly why: Unplaced } | null;
  /** Absent, or not crash-looping: nothing is to be told of it. */
  readonly starts?: ReleaseStarts;
  /** As last told: reasons that are the same keep their instants. */
  readonly previous: EndpointOutlook | null;
}

/** Says the same as `previous`, to the letter, while nothing has changed that is told. */
export function describeOutlook(facts: OutlookFacts, nowMs: number): EndpointOutlook {
  const { desired, previous, scalingReason, starts, unplaced, workers } = facts;
  const told = previous?.scaling;
  return {
    desired,
    scaling: { reason: scalingReason, sinceMs: told?.reason === scalingReason ? told.sinceMs : nowMs },
    coming: comingWorkers(workers, previous?.coming ?? [], nowMs),
    unplaced: unplaced === null ? null : describeUnplaced(unplaced),
    ...crashLoopOf(starts),
  };
}

function crashLoopOf(starts: ReleaseStarts | undefined): Pick<EndpointOutlook, 'crashLoop'> {
  const sinceMs = starts?.loopingSinceMs ?? null;
  if (starts === undefined || sinceMs === null) return {};
  return { crashLoop: { detail: clipText(describeCrashLoop(starts), OUTLOOK_TEXT_MAX), sinceMs } };
}

const STAGES_BY_NEARNESS: readonly ComingStage[] = [
  'initialising',
  'starting',
  'preparing',
  'placed',
  'replaced',
  'delayed',
  'unhealthy',
];

function comingWorkers(
  workers: readonly Worker[],
  previous: readonly ComingWorker[],
  nowMs: number,
): readonly ComingWorker[] {
  const before = new Map(previous.map((coming) => [coming.id, coming]));
  return workers
    .flatMap((worker) => {
      const stage = stageOf(worker);
      return stage === null ? [] : [{ worker, stage, nearness: STAGES_BY_NEARNESS.indexOf(stage) }];
    })
    .toSorted((a, b) => a.nearness - b.nearness || compareText(a.worker.id, b.worker.id))
    .slice(0, OUTLOOK_WORKERS_MAX)
    .map(({ worker, stage }) => withMemory(describeComing(worker, stage, nowMs), before.get(worker.id)));
}

const STAGE_OF_PHASE: Readonly<Record<WorkerPhase, ComingStage | null>> = {
  preparing: 'preparing',
  starting: 'starting',
  waiting: 'delayed',
  unhealthy: 'unhealthy',
  draining: 'replaced',
  // It is about to go on.
  paused: 'starting',
  idle: null,
  busy: null,
  removed: null,
};

/** Null for a worker that takes jobs, that is paused, or that goes and does not come back. */
function stageOf({ intent, observed }: Worker): ComingStage | null {
  if (intent !== 'running') return null;
  if (observed === null) return 'placed';
  const { failedStarts, phase, startedAtMs } = observed;
  if (phase === 'starting' && startedAtMs !== null) return 'initialising';
  // An agent that has not heard yet what is wanted waits too.
  return phase === 'waiting' && failedStarts === 0 ? 'placed' : STAGE_OF_PHASE[phase];
}

/** The reason of a worker of which its host has not told yet. */
export const NOT_REPORTED = 'its host has not reported it yet';

function describeComing(
  { createdAtMs, id, observed, staysBecause }: Worker,
  stage: ComingStage,
  nowMs: number,
): ComingWorker {
  return {
    id,
    stage,
    reason: reasonOf(stage, observed),
    detail: clipText(
      [observed === null ? NOT_REPORTED : observed.reason, staysBecause ?? []].flat().join('; '),
      OUTLOOK_TEXT_MAX,
    ),
    nextStartAtMs: observed?.nextStartAtMs ?? null,
    sinceMs: observed?.phaseSinceMs ?? createdAtMs,
    toldAtMs: nowMs,
  };
}

/**
 * An image that could not be had stays the reason while it is tried again, until the next try shows progress: a reason
 * that changes with every try tells nobody anything.
 */
function reasonOf(stage: ComingStage, observed: ObservedWorker | null): ComingReason {
  if (observed?.lacksRoom === true) return 'throttled';
  const hasImageFailed = observed?.failure === 'image' && observed.imagePercent === undefined;
  if (stage === 'unhealthy') return 'image-error';
  return (stage === 'preparing' || stage === 'delayed') && hasImageFailed ? 'image-error' : 'worker-starting';
}

function withMemory(coming: ComingWorker, before: ComingWorker | undefined): ComingWorker {
  if (before === undefined || comingWord(before) !== comingWord(coming)) return coming;
  const known = { ...coming, sinceMs: before.sinceMs };
  const isSame = before.stage === coming.stage && before.nextStartAtMs === coming.nextStartAtMs;
  if (!isSame) return known;
  const isProgress = coming.stage === 'preparing' && coming.toldAtMs - before.toldAtMs < OUTLOOK_PROGRESS_INTERVAL_MS;
  return isProgress || before.detail === coming.detail ? before : known;
}

const describeUnplaced = ({ count, sinceMs, why }: NonNullable<OutlookFacts['unplaced']>): UnplacedWorkers => ({
  count,
  reason: why.reason,
  detail: clipText(why.detail, OUTLOOK_TEXT_MAX),
  sinceMs,
  hosts: why.hosts.slice(0, OUTLOOK_HOSTS_MAX).map(({ detail, id, reason }) => ({
    id,
    reason,
    detail: clipText(detail, OUTLOOK_TEXT_MAX),
  })),
});

const compareText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));
