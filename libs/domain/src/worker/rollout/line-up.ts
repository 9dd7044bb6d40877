import type { HostedWorker } from '../hosted-worker.js';
import { isUp } from '../worker-status.js';
import type { Worker } from '../worker.js';
import { isStale } from './is-stale.js';
import { inOrderOfLeaving } from './scale-down.js';

/** Why a worker is to be replaced by another one. */
export type ReplacedReason = 'host-draining' | 'stale-release';

/** The workers of an endpoint by their part in replacing those that have to go. */
export interface LineUp {
  /** Of the latest release, on a host that stays. */
  readonly fresh: readonly Worker[];
  /** To be replaced, and worth keeping until then; in the order in which they leave. */
  readonly old: readonly Worker[];
  /** To be replaced, failing, and up at no time that counts: nobody waits for them. */
  readonly hopeless: readonly Worker[];
  /**
   * Told to leave, or to pause, for want of jobs, and still there. The one that would leave last comes first, to be
   * resumed.
   */
  readonly lingering: readonly Worker[];
  /** How many to be replaced have been told to leave and are still there. */
  readonly leaving: number;
  /** One of an older release is still there, if only to finish its job. */
  readonly hasOlder: boolean;
  /** All that are there, those that leave included. */
  readonly present: number;
  /** Null: it may stay. */
  readonly reasonOf: (worker: Worker) => ReplacedReason | null;
}

export function lineUp(present: readonly HostedWorker[], latestRelease: number): LineUp {
  const reasons = new Map(present.map((hosted) => [hosted.worker.id, replacedBecause(hosted, latestRelease)]));
  const reasonOf = ({ id }: Worker): ReplacedReason | null => reasons.get(id) ?? null;
  const workers = present.map(({ worker }) => worker);
  const staying = workers.filter(({ intent }) => intent === 'running');
  const outgoing = staying.filter((worker) => reasonOf(worker) !== null);
  const drained = workers.filter((worker) => worker.intent === 'drained' && !isLingering(worker));
  return {
    fresh: staying.filter((worker) => reasonOf(worker) === null),
    old: inOrderOfLeaving(outgoing.filter((worker) => !isHopeless(worker))),
    hopeless: outgoing.filter(isHopeless),
    lingering: inOrderOfLeaving(workers.filter(isLingering)).toReversed(),
    leaving: drained.filter((worker) => reasonOf(worker) !== null).length,
    hasOlder: workers.some((worker) => isStale(worker, latestRelease)),
    present: present.length,
    reasonOf,
  };
}

function replacedBecause({ host, worker }: HostedWorker, latestRelease: number): ReplacedReason | null {
  if (host?.intent === 'draining') return 'host-draining';
  return isStale(worker, latestRelease) ? 'stale-release' : null;
}

const isHopeless = (worker: Worker): boolean => !isUp(worker) && (worker.observed?.failedStarts ?? 0) > 0;

const isLingering = ({ intent, leavesAfterIdleMs }: Worker): boolean =>
  intent === 'paused' || (intent === 'drained' && leavesAfterIdleMs !== undefined);
