import type { Worker } from '../worker.js';
import { isStale } from './is-stale.js';
import { describeCrashLoop, isCrashLooping, type ReleaseStarts } from './release-starts.js';

/**
 * `none`: there is no worker. `rolling`: workers of an older release are still there. `halted`: the latest release does
 * not come up, so the older workers stay. `done`: all workers run the latest.
 */
type RolloutState = 'none' | 'rolling' | 'halted' | 'done';

/** How far the latest release has come (wire contract 5.2). */
export interface Rollout {
  readonly inProgress: boolean;
  readonly workersOnLatest: number;
  readonly workersTotal: number;
  /** 0 to 100, whole; 100 where there is no worker. */
  readonly percentOnLatest: number;
  readonly state: RolloutState;
  /** Why it is halted, or what it waits for: a sentence without its full stop; else empty. */
  readonly reason: string;
}

/** @param starts as last counted; of another release, or null: nothing is known against the latest */
export function rolloutOf(
  workers: readonly Pick<Worker, 'release' | 'observed'>[],
  latestRelease: number,
  starts: ReleaseStarts | null = null,
): Rollout {
  const workersTotal = workers.length;
  const latest = workers.filter((worker) => !isStale(worker, latestRelease));
  const inProgress = latest.length < workersTotal;
  const known = starts?.release === latestRelease ? starts : null;
  const reason = whyHalted(latest, known, inProgress);
  return {
    inProgress,
    workersOnLatest: latest.length,
    workersTotal,
    percentOnLatest: workersTotal === 0 ? 100 : Math.floor((100 * latest.length) / workersTotal),
    state: stateOf(workersTotal, inProgress, reason),
    reason: reason ?? (inProgress ? waitsFor(known) : ''),
  };
}

const waitsFor = (starts: ReleaseStarts | null): string => starts?.pullAhead?.detail ?? '';

function stateOf(workers: number, inProgress: boolean, reason: string | null): RolloutState {
  if (reason !== null) return 'halted';
  if (inProgress) return 'rolling';
  return workers === 0 ? 'none' : 'done';
}

/** One that goes first and cannot have its image, or is unhealthy, stops the others sooner than five failures do. */
function whyHalted(
  latest: readonly Pick<Worker, 'observed'>[],
  starts: ReleaseStarts | null,
  inProgress: boolean,
): string | null {
  if (starts !== null && isCrashLooping(starts)) return describeCrashLoop(starts);
  if (!inProgress || starts?.hasBeenUp === true) return null;
  const failing = latest.find(({ observed }) => observed !== null && isHopeless(observed));
  return failing?.observed?.reason ?? null;
}

const isHopeless = ({ failure, phase }: NonNullable<Worker['observed']>): boolean =>
  phase === 'unhealthy' || (failure === 'image' && phase === 'waiting');
