import type { AssignedWorker } from '@berth/contracts';
import {
  HoldLine,
  NO_LOAD,
  PlatformError,
  afterAdmission,
  afterChoice,
  afterEnd,
  afterRefusal,
  chooseWorker,
  nextOpeningMs,
  type EndpointId,
  type NoWorkerReason,
  type WorkerId,
  type WorkerLoad,
  type WorkerRefusal,
} from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { LinkAnswer, WorkerLink } from '@berth/tunnel';
import type { LoadBalancerDirectory } from './directory.port.js';
import type { LoadBalancerMetrics } from './metrics.js';
import {
  isStopping,
  noPlace,
  tooManyHeld,
  wantedGone,
  type PlaceOutcome,
  type PlaceWish,
  type Waiter,
} from './waiter.js';

export interface PlacesOptions {
  readonly directory: Pick<LoadBalancerDirectory, 'assignmentOf' | 'refreshAssignment'>;
  readonly link: WorkerLink;
  readonly clock: Clock;
  readonly random: Pick<Random, 'fraction'>;
  readonly logger: Logger;
  readonly metrics: LoadBalancerMetrics;
  /** How long a request waits for any worker. */
  readonly holdMs: number;
}

export interface EndpointPlacesOptions extends PlacesOptions {
  readonly endpointId: EndpointId;
  /** Something in the line, or in flight, has changed. */
  readonly onChange: () => void;
}

/** A request that wants one worker alone waits about this long for it (wire contract 4). */
const STRICT_HOLD_MS = 300_000;
/** A worker, with its agent, that says nothing for so long is taken for unreachable. */
const CONNECT_MS = 5_000;
const MS_PER_SECOND = 1_000;

/**
 * The line of one endpoint, and its workers as this router has seen them. Everything comes down to `look`, which may be
 * called at any time: whoever is first in line and has a worker to go to goes.
 */
export class EndpointPlaces {
  readonly #options: EndpointPlacesOptions;
  readonly #line = new HoldLine<Waiter>();
  readonly #loads = new Map<WorkerId, WorkerLoad>();
  #choices = 0;
  #inFlight = 0;
  #isClosed = false;
  #disarm: (() => void) | undefined;

  constructor(options: EndpointPlacesOptions) {
    this.#options = options;
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
      if (!hasRoom && this.#line.isWaiting(waiter)) this.#settle(waiter, tooManyHeld());
    });
  }

  /** From now on no request waits. */
  close(): void {
    this.#isClosed = true;
    for (const waiter of this.#line.waiting()) this.#settle(waiter, isStopping());
  }

  /** Forgets what was seen of workers that are gone, and looks who can go on. */
  changed(): void {
    const ids = new Set(this.#workers().map(({ id }) => id));
    for (const [id, { inFlight }] of this.#loads) if (inFlight === 0 && !ids.has(id)) this.#loads.delete(id);
    this.look();
  }

  look(): void {
    const nowMs = this.#options.clock.monotonicMs();
    let closed: NoWorkerReason | null = null;
    for (const waiter of this.#line.waiting()) {
      const isOnly = waiter.affinity.kind === 'only';
      const reason: NoWorkerReason | null = closed !== null && !isOnly ? closed : this.#tryOne(waiter, nowMs);
      if (!isOnly) closed = reason;
      if (reason !== null) this.#sendAway(waiter, reason, nowMs);
    }
    this.#arm(nowMs);
    this.#options.onChange();
  }

  /** Null: a worker is being asked. */
  #tryOne(waiter: Waiter, nowMs: number): NoWorkerReason | null {
    const choice = chooseWorker(this.#from(), waiter.affinity, nowMs);
    if (choice.kind === 'none') return choice.reason;
    this.#ask(waiter, choice.worker);
    return null;
  }

  /** Ends the wait of whoever may wait no longer. */
  #sendAway(waiter: Waiter, reason: NoWorkerReason, nowMs: number): void {
    if (reason === 'gone') this.#settle(waiter, wantedGone());
    else if (this.#isClosed) this.#settle(waiter, isStopping());
    else if (waiter.isPassing || waiter.untilMs <= nowMs) this.#settle(waiter, noPlace(waiter, reason));
  }

  #ask(waiter: Waiter, worker: AssignedWorker): void {
    const { clock, endpointId, link, logger, metrics } = this.#options;
    const askedAtMs = clock.monotonicMs();
    this.#choices += 1;
    const choice = this.#choices;
    this.#update(worker.id, (load) => afterChoice(load, choice));
    this.#line.note(waiter, true);
    const limit = new AbortController();
    const disarm = clock.after(CONNECT_MS, () => limit.abort());
    const target = { hostId: worker.hostId, endpointId, workerId: worker.id };
    void link
      .open(target, AbortSignal.any([limit.signal, waiter.gone]))
      .catch((error: unknown): LinkAnswer => {
        logger.error('the way to a worker failed in a way that it must not', { endpointId, error });
        return { kind: 'refused', reason: 'no-way' };
      })
      .then((answer) => {
        disarm();
        if (answer.kind === 'refused') {
          this.#refused(waiter, worker.id, answer.reason);
          return;
        }
        metrics.connect.observe((clock.monotonicMs() - askedAtMs) / MS_PER_SECOND);
        this.#admitted(waiter, worker, answer);
      });
  }

  #admitted(
    waiter: Waiter,
    worker: AssignedWorker,
    { stream }: Extract<LinkAnswer, { readonly kind: 'admitted' }>,
  ): void {
    this.#update(worker.id, afterAdmission);
    this.#inFlight += 1;
    // The exchange hears of it too; here it only must not be unheard.
    stream.on('error', () => undefined);
    stream.once('close', () => {
      this.#inFlight -= 1;
      this.#update(worker.id, afterEnd);
      this.look();
    });
    if (waiter.gone.aborted) stream.destroy();
    else this.#settle(waiter, { worker, stream });
  }

  #refused(waiter: Waiter, workerId: WorkerId, reason: WorkerRefusal): void {
    const { clock, metrics, random } = this.#options;
    const nowMs = clock.monotonicMs();
    if (waiter.gone.aborted) {
      // Its caller gave up, which says nothing of the worker.
      this.#update(workerId, afterEnd);
    } else {
      metrics.refusals.inc({ reason });
      waiter.lastRefusal = reason;
      this.#update(workerId, (load) => {
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
    waiter.settle(outcome);
    this.#options.onChange();
  }

  /** One timer: the next worker that may be asked again, or the next request that has waited long enough. */
  #arm(nowMs: number): void {
    this.#disarm?.();
    this.#disarm = undefined;
    const waiting = this.#line.waiting();
    if (waiting.length === 0) return;
    const opening = nextOpeningMs(this.#from(), nowMs) ?? Number.POSITIVE_INFINITY;
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
    return { ...wish, sinceMs, untilMs, sinceUnixMs: clock.nowMs(), lastRefusal: null, settle };
  }

  #workers(): readonly AssignedWorker[] {
    const { directory, endpointId } = this.#options;
    return directory.assignmentOf(endpointId)?.workers ?? [];
  }

  #from() {
    const { directory, endpointId } = this.#options;
    const assignment = directory.assignmentOf(endpointId);
    return {
      workers: assignment?.workers ?? [],
      slotsPerWorker: assignment?.slotsPerWorker ?? 1,
      loadOf: (id: WorkerId) => this.#loads.get(id),
    };
  }

  #update(id: WorkerId, change: (load: WorkerLoad) => WorkerLoad): void {
    this.#loads.set(id, change(this.#loads.get(id) ?? NO_LOAD));
  }
}
