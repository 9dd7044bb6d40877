import type { HostId, WorkerId } from '../ids.js';
import type { WorkerPhase } from '../worker/index.js';
import type { Affinity } from './affinity.js';
import { NO_LOAD, isOpenAt, isWorthWaitingFor, roomOf, type WorkerLoad } from './worker-loads.js';

/** A worker of the endpoint, as the control plane tells of it. */
export interface CandidateWorker {
  readonly id: WorkerId;
  readonly hostId: HostId;
  readonly phase: WorkerPhase;
  readonly isDraining: boolean;
  readonly isPaused?: boolean;
}

export interface WorkersToChooseFrom<Worker extends CandidateWorker> {
  /** Of this endpoint alone, so that no request ever reaches another's. */
  readonly workers: readonly Worker[];
  readonly slotsPerWorker: number;
  /** Absent: this router has seen nothing of it. */
  readonly loadOf: (id: WorkerId) => WorkerLoad | undefined;
}

/**
 * `gone`: the one that is wanted is no worker of the endpoint, or is leaving it. `none-ready`: none is up and takes
 * requests. `all-busy`: each that is up is full, was refused by just now, or is out for its connect errors.
 */
export type NoWorkerReason = 'gone' | 'none-ready' | 'all-busy';

export type WorkerChoice<Worker extends CandidateWorker> =
  | { readonly kind: 'chosen'; readonly worker: Worker; readonly reason: 'wanted' | 'fewest-in-flight' }
  | { readonly kind: 'none'; readonly reason: NoWorkerReason };

/**
 * Where a request goes: to the worker that it wants, or to that with the fewest requests of this router. Of equals it is
 * the one chosen longest ago. Other routers' requests are not seen here: the agent is who says that a worker is full.
 */
export function chooseWorker<Worker extends CandidateWorker>(
  from: WorkersToChooseFrom<Worker>,
  affinity: Affinity,
  nowMs: number,
): WorkerChoice<Worker> {
  if (affinity.kind === 'only') return chooseOnly(from, affinity.workerId, nowMs);
  const ready = from.workers.filter(takesRequests);
  const open = ready.filter((worker) => isFree(from, worker, nowMs));
  const wanted = affinity.kind === 'prefer' ? open.find(({ id }) => id === affinity.workerId) : undefined;
  if (wanted !== undefined) return { kind: 'chosen', worker: wanted, reason: 'wanted' };
  const [first, ...others] = open;
  if (first === undefined) return { kind: 'none', reason: ready.length === 0 ? 'none-ready' : 'all-busy' };
  const worker = others.reduce((best, each) => (comesBefore(from, each, best) ? each : best), first);
  return { kind: 'chosen', worker, reason: 'fewest-in-flight' };
}

/** Null: nothing but news opens one. The instant at which the next one that is ready may be asked again. */
export function nextOpeningMs<Worker extends CandidateWorker>(
  from: WorkersToChooseFrom<Worker>,
  nowMs: number,
): number | null {
  const openings = from.workers
    .filter(takesRequests)
    .map(({ id }) => from.loadOf(id) ?? NO_LOAD)
    .filter((load) => !isOpenAt(load, nowMs) && roomOf(load, from.slotsPerWorker) > 0)
    .map(({ ejectedUntilMs, shutUntilMs }) => Math.max(ejectedUntilMs, shutUntilMs));
  return openings.length === 0 ? null : Math.min(...openings);
}

/**
 * The worker whose next slot is worth a question that waits at its agent, where none is open: the one that was full, with
 * the fewest requests of this router. Null: there is none.
 *
 * @param isWaitedFor whether such a question waits there already
 */
export function chooseToWaitFor<Worker extends CandidateWorker>(
  from: WorkersToChooseFrom<Worker>,
  affinity: Affinity,
  { isWaitedFor, nowMs }: { readonly isWaitedFor: (id: WorkerId) => boolean; readonly nowMs: number },
): Worker | null {
  const [first, ...others] = from.workers.filter((worker) => {
    const load = from.loadOf(worker.id) ?? NO_LOAD;
    const isWanted = affinity.kind !== 'only' || worker.id === affinity.workerId;
    const isFull = isWorthWaitingFor(load, nowMs) && roomOf(load, from.slotsPerWorker) > 0;
    return isWanted && takesRequests(worker) && isFull && !isWaitedFor(worker.id);
  });
  return others.reduce((best, each) => (comesBefore(from, each, best ?? each) ? each : best), first) ?? null;
}

function chooseOnly<Worker extends CandidateWorker>(
  from: WorkersToChooseFrom<Worker>,
  workerId: string,
  nowMs: number,
): WorkerChoice<Worker> {
  const worker = from.workers.find(({ id }) => id === workerId);
  if (worker === undefined || isLeaving(worker)) return { kind: 'none', reason: 'gone' };
  if (!takesRequests(worker)) return { kind: 'none', reason: 'none-ready' };
  return isFree(from, worker, nowMs)
    ? { kind: 'chosen', worker, reason: 'wanted' }
    : { kind: 'none', reason: 'all-busy' };
}

const isLeaving = ({ isDraining, phase }: CandidateWorker): boolean => isDraining || phase === 'removed';

const takesRequests = ({ isDraining, isPaused = false, phase }: CandidateWorker): boolean =>
  !isDraining && !isPaused && (phase === 'idle' || phase === 'busy');

function isFree<Worker extends CandidateWorker>(
  { loadOf, slotsPerWorker }: WorkersToChooseFrom<Worker>,
  { id }: Worker,
  nowMs: number,
): boolean {
  const load = loadOf(id) ?? NO_LOAD;
  return isOpenAt(load, nowMs) && roomOf(load, slotsPerWorker) > 0;
}

function comesBefore<Worker extends CandidateWorker>(
  { loadOf }: WorkersToChooseFrom<Worker>,
  a: Worker,
  b: Worker,
): boolean {
  const [left, right] = [loadOf(a.id) ?? NO_LOAD, loadOf(b.id) ?? NO_LOAD];
  return left.inFlight === right.inFlight ? left.lastChoice < right.lastChoice : left.inFlight < right.inFlight;
}
