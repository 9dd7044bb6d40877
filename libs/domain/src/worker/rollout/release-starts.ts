import type { HostId, WorkerId } from '../../ids.js';
import { cleanText } from '../../text/index.js';
import { UNHEALTHY_AFTER_FAILURES } from '../agent-plan/start-backoff.js';
import { isUp } from '../worker-status.js';
import type { Worker } from '../worker.js';
import { isStale } from './is-stale.js';

/** What is remembered of how the workers of an endpoint's latest release start, also of those that are gone since. */
export interface ReleaseStarts {
  readonly release: number;
  /** A worker of it has been up. */
  readonly hasBeenUp: boolean;
  /** Failed starts of all its workers together since one of them was up, or somebody asked for a restart. */
  readonly failedStarts: number;
  /** How the last of them ended; empty where none has failed. */
  readonly lastFailure: string;
  /** Since when it is crash-looping; null: it is not. */
  readonly loopingSinceMs: number | null;
  /** What of each worker is in the count already; a worker that has neither failed nor been restarted is not named. */
  readonly counted: Readonly<Record<WorkerId, CountedStarts>>;
  /** The image that its first worker waits for, or waited for in vain; absent: it waits for none. */
  readonly pullAhead?: PullAhead;
}

/** What is said of an image that is brought to a host before a worker there gives its place up. */
interface PullAhead {
  /** Since when the first worker of the release waits for it. */
  readonly sinceMs: number;
  readonly hostId: HostId;
  /** A sentence without its full stop. */
  readonly detail: string;
}

interface CountedStarts {
  readonly failedStarts: number;
  readonly restarts: number;
}

/** As many as make a single worker unhealthy: a release with many workers is judged no later than one with one. */
const CRASH_LOOP_AFTER_FAILURES = UNHEALTHY_AFTER_FAILURES;

const LAST_FAILURE_CHARACTERS = 500;

export const newReleaseStarts = (release: number): ReleaseStarts => ({
  ...{ release, hasBeenUp: false, failedStarts: 0, lastFailure: '', loopingSinceMs: null, counted: {} },
});

/**
 * The count after what is observed of the workers now. It begins anew with a worker that is up, with a request for a
 * restart of one of them, and with another release. Each failed start is counted once, however often it is seen.
 *
 * @param before as counted last; null: nothing is known
 * @param workers of the endpoint, those that leave included, those that are gone not
 */
export function countStarts(
  before: ReleaseStarts | null,
  { release, workers }: { readonly release: number; readonly workers: readonly Worker[] },
  nowMs: number,
): ReleaseStarts {
  const known = before?.release === release ? before : newReleaseStarts(release);
  const own = workers.filter((worker) => !isStale(worker, release));
  const counted = Object.fromEntries(own.flatMap(toCounted));
  const isAnyUp = own.some(isUp);
  if (isAnyUp || own.some((worker) => isRestarted(worker, known))) {
    return { ...newReleaseStarts(release), hasBeenUp: known.hasBeenUp || isAnyUp, counted };
  }
  const failures = own.map((worker) => newFailures(worker, known));
  const failedStarts = failures.reduce((sum, more) => sum + more, known.failedStarts);
  const last = own.findLast((worker, index) => failures[index] !== 0 && tellsFailure(worker));
  return {
    ...known,
    ...{ failedStarts, counted, lastFailure: failureOf(last) ?? known.lastFailure },
    loopingSinceMs: failedStarts < CRASH_LOOP_AFTER_FAILURES ? null : (known.loopingSinceMs ?? nowMs),
  };
}

/** One that leaves says that, however its start failed. */
const tellsFailure = ({ observed }: Worker): boolean =>
  observed !== null && observed.phase !== 'draining' && observed.phase !== 'removed';

const failureOf = (worker: Worker | undefined): string | null =>
  worker?.observed == null ? null : cleanText(worker.observed.reason, LAST_FAILURE_CHARACTERS);

/** No more of its workers are made and one goes on trying, until one is up, one is restarted, or another release comes. */
export const isCrashLooping = ({ loopingSinceMs }: ReleaseStarts): boolean => loopingSinceMs !== null;

/** A sentence without its full stop. */
export const describeCrashLoop = ({ failedStarts, lastFailure, release }: ReleaseStarts): string =>
  `release ${release} does not come up, ${failedStarts} starts have failed and one worker goes on trying; the last: ${lastFailure}`;

function toCounted({ id, observed, restarts = 0 }: Worker): readonly [string, CountedStarts][] {
  const failedStarts = observed?.failedStarts ?? 0;
  return failedStarts === 0 && restarts === 0 ? [] : [[id, { failedStarts, restarts }]];
}

const isRestarted = ({ id, restarts = 0 }: Worker, { counted }: ReleaseStarts): boolean =>
  restarts > (counted[id]?.restarts ?? 0);

/**
 * A number that is lower than the one that was counted belongs to a new row of failures. That a host has no room says
 * nothing of the release.
 */
function newFailures({ id, observed }: Worker, { counted }: ReleaseStarts): number {
  if (observed?.lacksRoom === true) return 0;
  const now = observed?.failedStarts ?? 0;
  const before = counted[id]?.failedStarts ?? 0;
  return now >= before ? now - before : now;
}
