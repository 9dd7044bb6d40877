import type { WorkerId } from '../../ids.js';
import { isUp } from '../worker-status.js';
import type { Worker } from '../worker.js';
import { byLastUse } from '../last-use.js';
import type { LineUp, ReplacedReason } from './line-up.js';
import { isCrashLooping, type ReleaseStarts } from './release-starts.js';
import { scaleDown, type ScaleDownBounds, type ScaledDown } from './scale-down.js';

export interface Leaving extends ScaledDown {
  readonly reason: ReplacedReason | 'crash-loop' | 'scale-down';
}

/** What becomes of the workers of an endpoint. Each is named at most once. */
export interface RolloutSteps {
  readonly leaving: readonly Leaving[];
  readonly resumed: readonly Worker[];
  /** How many of the latest release are made. */
  readonly created: number;
  /** How many of these may have the place of an old worker where no host has room for them beside it. */
  readonly mayYield: number;
  /** Whose place that may be, in the order in which they are asked. */
  readonly yielding: readonly WorkerId[];
}

export interface RolloutBounds extends ScaleDownBounds {
  /** The image of the latest release is still on its way to the worker's host: it does not make room for the first. */
  readonly isHeldBack?: (worker: Worker) => boolean;
}

/** A share of the wanted workers, and at least one, may be on their way out or in at one time. */
const WINDOW_SHARE = 0.25;

/**
 * How workers follow one another: those of an older release, or of a host that is drained, go when others have come up.
 * Nothing that serves is given up for a release of which no worker has been up, but one worker where the maximum leaves
 * no place for the first; nothing at all for one that is crash-looping.
 */
export function planRollout(line: LineUp, bounds: RolloutBounds, starts: ReleaseStarts): RolloutSteps {
  const goes = line.hopeless.map((worker) => leavingOld(worker, line));
  const isLooping = isCrashLooping(starts);
  const isFirst = line.hasOlder && !starts.hasBeenUp;
  const steps = isLooping || isFirst ? oneAtATime(line, bounds, isLooping) : inAWindow(line, bounds);
  return { ...steps, leaving: [...goes, ...steps.leaving] };
}

/** One worker of the latest release tries, and the old ones stay. */
function oneAtATime(line: LineUp, bounds: RolloutBounds, isLooping: boolean): RolloutSteps {
  const { wanted, workersMax } = bounds;
  const tries = isLooping ? line.fresh.toSorted(compareProbes).slice(0, 1) : line.fresh;
  const moved = movedFromHosts(line, isLooping || wanted === 0);
  const held = without(line.old, moved);
  const fewer = [
    ...scaleDown(held, { ...bounds, workersMax: workersMax - tries.length }),
    ...scaleDown(tries, { ...bounds, wanted: Math.min(wanted, tries.length) }),
  ];
  const [old, trying] = [without(held, workersOf(fewer)), without(tries, workersOf(fewer))];
  const missing = line.fresh.length === 0 ? Math.min(wanted, 1) : 0;
  const room = workersMax - old.length - trying.length;
  const resumed = resumable(line, true).slice(0, Math.max(0, Math.min(wanted - old.length, room - missing)));
  // One at most: where one leaves already, its place is waited for.
  const givesUp = isLooping || line.leaving > 0 ? 0 : missing;
  const created = Math.max(0, Math.min(missing, workersMax - line.present));
  // What is paused serves nobody, so it goes before what does.
  const places = withImage([...without(pausedOld(line), [...moved, ...resumed]), ...old], bounds);
  const isFull = room < missing || (created < missing && places.some(({ intent }) => intent === 'paused'));
  const givingUp = isFull ? places.slice(0, givesUp) : [];
  return {
    leaving: [
      ...without(line.fresh, tries).map((worker): Leaving => ({ worker, reason: 'crash-loop' })),
      ...[...moved, ...givingUp].map((worker) => leavingOld(worker, line)),
      ...fewer.map((each) => scaledDown(each, line)),
    ],
    ...{
      resumed,
      created,
      mayYield: Math.min(created, givesUp),
      yielding: without(places, givingUp).map(({ id }) => id),
    },
  };
}

/** Those whose place has the image already. One with a job gives none up while one without waits for the image. */
function withImage(places: readonly Worker[], { isHeldBack }: RolloutBounds): readonly Worker[] {
  if (isHeldBack === undefined) return places;
  const hasFree = places.some((worker) => !isBusy(worker));
  return places.filter((worker) => !isHeldBack(worker) && !(hasFree && isBusy(worker)));
}

const isBusy = ({ observed }: Worker): boolean => observed?.phase === 'busy';

/** Paused ones of an older release, the least recently used first. */
const pausedOld = ({ lingering, reasonOf }: LineUp): readonly Worker[] =>
  lingering.filter((worker) => worker.intent === 'paused' && reasonOf(worker) !== null).toSorted(byLastUse);

/** A host is not kept from its maintenance by a release that does not come up. */
const movedFromHosts = ({ lingering, old, reasonOf }: LineUp, isOldMoved: boolean): readonly Worker[] =>
  [...lingering, ...(isOldMoved ? old : [])].filter((worker) => reasonOf(worker) === 'host-draining');

/** Old workers go as new ones come up, a few at a time. */
function inAWindow(line: LineUp, bounds: ScaleDownBounds): RolloutSteps {
  const { wanted, workersMax } = bounds;
  const fewer = scaleDown(line.fresh, bounds);
  const fresh = without(line.fresh, workersOf(fewer));
  const resumed = resumable(line, false).slice(0, Math.max(0, wanted - fresh.length));
  const coming = fresh.filter((worker) => !isUp(worker)).length;
  const staying = fresh.length + resumed.length;
  const needless = Math.max(line.old.length + staying - coming - wanted, line.old.length + staying - workersMax, 0);
  const old = line.old.slice(needless);
  const missing = Math.max(0, wanted - staying - old.length);
  const window = Math.max(1, Math.ceil(wanted * WINDOW_SHARE));
  // A worker that leaves and has no successor yet is on the way as much as a new worker that is not up.
  const vacant = Math.min(line.leaving, missing);
  const free = Math.max(0, window - coming - vacant);
  const exchanged = Math.max(0, Math.min(free - (missing - vacant), wanted - staying - missing));
  const room = Math.max(0, workersMax - old.length - staying - missing);
  const makingRoom = Math.max(0, Math.min(exchanged - room, free));
  const gone = [...line.old.slice(0, needless), ...old.slice(0, makingRoom)];
  const lingering = line.lingering.filter((worker) => line.reasonOf(worker) !== null);
  const created = Math.max(0, Math.min(missing + exchanged, workersMax - line.present));
  return {
    leaving: [
      ...[...gone, ...lingering].map((worker) => leavingOld(worker, line)),
      ...fewer.map((each) => scaledDown(each, line)),
    ],
    ...{ resumed, created, mayYield: Math.min(created, free - makingRoom) },
    yielding: old.slice(makingRoom).map(({ id }) => id),
  };
}

/** Of workers that linger those that are up: of the latest release, and of older ones where these still serve. */
const resumable = ({ lingering, reasonOf }: LineUp, isOldServing: boolean): readonly Worker[] =>
  lingering.filter((worker) => {
    const reason = reasonOf(worker);
    return isUp(worker) && (reason === null || (isOldServing && reason === 'stale-release'));
  });

/** The worker that has failed most often waits longest, and so costs least. */
function compareProbes(a: Worker, b: Worker): number {
  const failed = ({ observed }: Worker): number => observed?.failedStarts ?? 0;
  return failed(b) - failed(a) || a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1);
}

const leavingOld = (worker: Worker, { reasonOf }: LineUp): Leaving => ({
  worker,
  reason: reasonOf(worker) ?? 'stale-release',
});

const scaledDown = (each: ScaledDown, line: LineUp): Leaving =>
  line.reasonOf(each.worker) === 'host-draining' ? leavingOld(each.worker, line) : { ...each, reason: 'scale-down' };

const workersOf = (all: readonly ScaledDown[]): readonly Worker[] => all.map(({ worker }) => worker);

const without = (workers: readonly Worker[], others: readonly Worker[]): readonly Worker[] =>
  workers.filter((worker) => !others.includes(worker));
