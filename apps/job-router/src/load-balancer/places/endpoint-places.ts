import type { AssignedWorker } from '@berth/contracts';
import {
  HoldLine,
  PlatformError,
  afterAdmission,
  afterEnd,
  afterRefusal,
  chooseWorker,
  explainHeld,
  nextOpeningMs,
  type EndpointId,
  type NoWorkerReason,
  type WorkerId,
  type WorkerRefusal,
} from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { LinkStream, WorkerLink } from '@berth/tunnel';
import type { LoadBalancerDirectory } from '../directory.port.js';
import type { LoadBalancerMetrics } from '../metrics.js';
import { askWorker } from './ask-worker.js';
import { SeenWorkers } from './seen-workers.js';
import { SlotWaits } from './slot-waits.js';
import {
  endpointGone,
  isStopping,
  noPlace,
  tooManyHeld,
  wantedGone,
  wants,
  type PlaceOutcome,
  type PlaceWish,
  type Waiter,
} from './waiter.js';

export interface EndpointPlacesOptions {
  readonly directory: Pick<LoadBalancerDirectory, 'assignmentOf' | 'knownEndpoint' | 'refreshAssignment'>;
  readonly link: WorkerLink;
  readonly clock: Clock;
  readonly random: Pick<Random, 'fraction'>;
  readonly logger: Logger;
  readonly metrics: LoadBalancerMetrics;
  /** The control plane's last sign of life, Unix ms. */
  readonly pulse: { readonly heardAtMs: number };
  /** How long a request waits for any worker. */
  readonly holdMs: number;
  readonly endpointId: EndpointId;
  /** One more, with a head of so many bytes, waits until the returned function is called. @throws PlatformError */
  readonly hold: (bytes: number) => () => void;
  /** Something in the line, or in flight, has changed. */
  readonly onChange: () => void;
}

/** A request that wants one worker alone waits about this long for it (wire contract 4). */
const STRICT_HOLD_MS = 300_000;

/**
 * The line of one endpoint, and its workers as this router has seen them. Everything comes down to `look`, which may be
 * called at any time: whoever is first in line and has a worker to go to goes.
 */
export class EndpointPlaces {
  readonly #options: EndpointPlacesOptions;
  readonly #line = new HoldLine<Waiter>();
  readonly #workers: SeenWorkers;
  readonly #slotWaits: SlotWaits;
  #inFlight = 0;
  #isClosed = false;
  #disarm: (() => void) | undefined;

  constructor(options: EndpointPlacesOptions) {
    this.#options = options;
    this.#workers = new SeenWorkers(options);
    this.#slotWaits = new SlotWaits({
      ...options,
      workers: this.#workers,
      onPlace: (worker, stream) => this.#admitted(this.#firstFor(worker.id), worker, stream),
      onEnd: (reason) => {
        if (reason !== null) options.metrics.refusals.inc({ reason });
        this.look();
      },
    });
  }

  /** Requests that workers have. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** It has neither a request that waits nor one that a worker has. */
  get isIdle(): boolean {
    return this.#line.size === 0 && this.#inFlight === 0;
  }

  /** The requests that no agent counts yet, and that shall have a worker. */
  held(): readonly Waiter[] {
    return this.#line.all().filter(({ isPassing }) => !isPassing);
  }

  /** @throws PlatformError why there is no worker for it */
  place(wish: PlaceWish): Promise<PlaceOutcome> {
    return new Promise((resolve, reject) => {
      const hasRoom = this.#line.hasRoomFor(wish.bytes);
      const waiter = this.#waiterOf(wish, (outcome) => {
        if (outcome instanceof PlatformError) reject(outcome);
        else resolve(outcome);
      });
      this.#line.enter(waiter);
      wish.gone.addEventListener('abort', () => {
        this.#settle(waiter, null);
      });
      this.look();
      if (this.#line.isWaiting(waiter)) this.#hold(waiter, hasRoom);
    });
  }

  /** From now on no request waits. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#line.waiting()) this.#settle(waiter, isStopping());
  }

  /** Forgets what was seen of workers that are gone, and looks who can go on. */
  changed(): void {
    this.#workers.forgetGone();
    this.look();
  }

  look(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#isDeleted()) for (const waiter of this.#line.waiting()) this.#settle(waiter, endpointGone());
    const blocked = new Set<string>();
    for (let waiter = this.#line.next(blocked); waiter !== null; waiter = this.#line.next(blocked)) {
      const reason = this.#tryOne(waiter, nowMs);
      if (reason !== null && !this.#sendAway(waiter, reason, nowMs)) blocked.add(waiter.lane);
    }
    this.#slotWaits.keep({ fronts: this.#line.fronts(), count: this.#line.waitingCount }, nowMs);
    this.#arm(nowMs);
    this.#options.onChange();
  }

  #hold(waiter: Waiter, hasRoom: boolean): void {
    try {
      if (!hasRoom) throw tooManyHeld();
      waiter.endHold = this.#options.hold(waiter.bytes);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      this.#settle(waiter, error);
    }
  }

  /** Null: a worker is being asked. */
  #tryOne(waiter: Waiter, nowMs: number): NoWorkerReason | null {
    const choice = chooseWorker(this.#workers.pool(), waiter.affinity, nowMs);
    if (choice.kind === 'none') return choice.reason;
    this.#ask(waiter, choice.worker);
    return null;
  }

  /** Ends the wait of whoever may wait no longer. False: it goes on to wait. */
  #sendAway(waiter: Waiter, reason: NoWorkerReason, nowMs: number): boolean {
    if (reason === 'gone') this.#settle(waiter, wantedGone());
    else if (this.#isClosed) this.#settle(waiter, isStopping());
    else if (waiter.isPassing || waiter.untilMs <= nowMs)
      this.#settle(waiter, noPlace(waiter, reason, this.#whyNone(waiter)));
    return !this.#line.isWaiting(waiter);
  }

  /** Null: its caller may not know, or nothing more is known. */
  #whyNone({ isKeyed, sinceUnixMs: sinceMs }: Waiter): string | null {
    const { clock, directory, endpointId, pulse } = this.#options;
    const endpoint = directory.knownEndpoint(endpointId);
    if (!isKeyed || endpoint === null) return null;
    const { outlook = null, workers = [] } = directory.assignmentOf(endpointId) ?? {};
    const view = { sinceMs, workers, outlook, workersMax: endpoint.workersMax, inFlight: this.#inFlight };
    return explainHeld({ ...view, controlHeardAtMs: pulse.heardAtMs }, clock.nowMs());
  }

  #ask(waiter: Waiter, worker: AssignedWorker): void {
    this.#workers.choose(worker.id);
    this.#line.note(waiter, true);
    const { hostId, id: workerId } = worker;
    const told = waiter.noteAsk?.({ endpointId: this.#options.endpointId, hostId, workerId });
    void askWorker(worker, waiter.gone, this.#options).then((answer) => {
      told?.(answer);
      if (answer.kind === 'refused') this.#refused(waiter, worker.id, answer.reason);
      else this.#admitted(waiter, worker, answer.stream);
    });
  }

  /** Null: no request that waits would go to it. */
  #firstFor(workerId: WorkerId): Waiter | null {
    const others = this.#line.fronts().filter((front) => !wants(front, workerId));
    return this.#line.next(new Set(others.map(({ lane }) => lane)));
  }

  /** @param waiter null: nobody has use for it any more */
  #admitted(waiter: Waiter | null, worker: AssignedWorker, stream: LinkStream): void {
    this.#workers.note(worker.id, afterAdmission);
    this.#inFlight += 1;
    // The exchange hears of it too; here it only must not be unheard.
    stream.on('error', () => undefined);
    stream.once('close', () => {
      this.#inFlight -= 1;
      this.#workers.note(worker.id, afterEnd);
      this.look();
    });
    if (waiter === null || waiter.gone.aborted) stream.destroy();
    else this.#settle(waiter, { worker, stream });
    // It has taken as many as it was thought to take, so it may take one more, and no timer waits for that.
    if (this.#line.size > 0) this.look();
  }

  #refused(waiter: Waiter, workerId: WorkerId, reason: WorkerRefusal): void {
    const { clock, metrics, random } = this.#options;
    const nowMs = clock.monotonicMs();
    if (waiter.gone.aborted) {
      // Its caller gave up, which says nothing of the worker.
      this.#workers.note(workerId, afterEnd);
    } else {
      metrics.refusals.inc({ reason });
      waiter.lastRefusal = reason;
      this.#workers.note(workerId, (load) => {
        const after = afterRefusal(load, { reason, nowMs, spread: random.fraction() });
        if (after.ejectedUntilMs > load.ejectedUntilMs) metrics.ejections.inc();
        return after;
      });
      this.#line.note(waiter, false);
    }
    this.look();
  }

  #settle(waiter: Waiter, outcome: PlaceOutcome | PlatformError): void {
    this.#line.leave(waiter);
    waiter.endHold?.();
    waiter.settle(outcome);
    this.#options.onChange();
  }

  /** One timer: the next worker that may be asked again, or the next request that has waited long enough. */
  #arm(nowMs: number): void {
    this.#disarm?.();
    this.#disarm = undefined;
    // Those of one lane wait equally long, so the first of each is the first to have waited for long enough.
    const waiting = this.#line.fronts();
    if (waiting.length === 0) return;
    const opening = nextOpeningMs(this.#workers.pool(), nowMs) ?? Number.POSITIVE_INFINITY;
    const dueMs = waiting.reduce((due, { untilMs }) => Math.min(due, untilMs), opening);
    this.#disarm = this.#options.clock.after(Math.max(1, dueMs - nowMs), () => {
      this.#disarm = undefined;
      this.look();
    });
  }

  #waiterOf(wish: PlaceWish, settle: Waiter['settle']): Waiter {
    const { clock, holdMs } = this.#options;
    const sinceMs = clock.monotonicMs();
    const untilMs = sinceMs + (wish.affinity.kind === 'only' ? Math.max(STRICT_HOLD_MS, holdMs) : holdMs);
    return { ...wish, lane: laneOf(wish), sinceMs, untilMs, sinceUnixMs: clock.nowMs(), lastRefusal: null, settle };
  }

  #isDeleted(): boolean {
    const { directory, endpointId } = this.#options;
    return directory.knownEndpoint(endpointId)?.isDeleted === true;
  }
}

/** Requests that want no worker in particular may have any; those that pass are never in the way of those that wait. */
const laneOf = ({ affinity, isPassing }: PlaceWish): string =>
  `${isPassing ? 'passing' : 'held'} ${affinity.kind === 'only' ? affinity.workerId : ''}`;
