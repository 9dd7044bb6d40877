import type { Demand, EndpointId, PurgeableDecision } from '@berth/domain';
import type { Semaphore } from '@berth/lifecycle';
import { Carrier, type UnreadPurge } from '../carrying/carrier.js';
import type { LogEnd, OpenLog, OpenLogOptions } from '../commit/open-log.js';
import { openEndpoint, type Opening } from '../opening/open-endpoint.js';
import {
  NEVER_SEEN,
  demandAtEnd,
  demandAtHead,
  demandLeft,
  type ClosedDemand,
  type HeadSeen,
} from './closed-demand.js';

/** The caller that wants an endpoint's log. Neither may throw. */
export interface LogAsker {
  readonly use: (log: OpenLog) => void;
  /**
   * `busy`: too many wait for it to be opened. `stopped`: its log must be looked at by somebody first. `unsettled`: nobody
   * here knows, so nothing may be said.
   */
  readonly refuse: (reason: 'busy' | 'stopped' | 'unsettled') => void;
}

/** For logs and metrics. */
export type EndpointEvent =
  | { readonly kind: 'opened'; readonly endpointId: EndpointId; readonly durationMs: number }
  | {
      readonly kind: 'closed';
      readonly endpointId: EndpointId;
      readonly reason: 'idle' | 'given-up' | 'lost-to' | 'full';
    }
  /** An alarm: nothing goes on at this endpoint until somebody has looked. */
  | { readonly kind: 'stopped'; readonly endpointId: EndpointId; readonly reason: string }
  /** The purged batches did not wait for the follower of the log, and are missing there. */
  | { readonly kind: 'purged-unread'; readonly endpointId: EndpointId; readonly reason: UnreadPurge }
  | { readonly kind: 'unanswered'; readonly endpointId: EndpointId; readonly error: unknown };

export interface OwnedEndpointOptions extends Omit<OpenLogOptions, 'onCommitted'> {
  readonly routerId: string;
  /** How many logs are opened at one time. */
  readonly openings: Semaphore;
  /** How far the shard's log may be purged, as far as the follower is concerned. */
  readonly purgeable: () => PurgeableDecision;
  /** Its due time has changed. */
  readonly onDue: (endpoint: OwnedEndpoint) => void;
  /** Its demand may have changed. */
  readonly onDemand: (endpoint: OwnedEndpoint) => void;
  /** Tries of webhook deliveries may begin. Told again from time to time while there are any. */
  readonly onDeliveriesDue: (endpointId: EndpointId) => void;
  /** The due things of the endpoint have been looked at. */
  readonly onLooked: (endpointId: EndpointId) => void;
  readonly onEvent: (event: EndpointEvent) => void;
}

const ASKERS_MAX = 4_096;
const IDLE_MS = 600_000;
/** A stopped endpoint is read once more after this: it may have been repaired. */
const STOPPED_MS = 60_000;
/** One carry in so many batches leaves the disk to those who wait. */
const BATCHES_PER_CARRY = 4;
/** A look that could not be had, or that has not been answered yet, comes again. */
const LOOK_AGAIN_MS = 1_000;
/** The sender of deliveries may be busy with others: it hears of those that are due again after this. */
const DELIVERIES_AGAIN_MS = 500;

type Phase =
  | { readonly kind: 'closed' }
  | { readonly kind: 'opening'; readonly askers: LogAsker[] }
  | { readonly kind: 'open'; readonly log: OpenLog; readonly carrier: Carrier }
  | { readonly kind: 'stopped'; readonly untilMs: number };

/** One endpoint of a shard that this router owns: opened when it is asked for or due, closed when it is idle. */
export class OwnedEndpoint {
  /** Its index in the heap of those that are due. */
  dueIndex = -1;
  readonly #options: OwnedEndpointOptions;
  readonly #abort = new AbortController();
  #phase: Phase = { kind: 'closed' };
  #dueAtMs = Number.POSITIVE_INFINITY;
  #closed = NEVER_SEEN;
  #usedAtMs: number;
  /** When it was last told that deliveries are due. */
  #deliveriesToldAtMs = 0;
  #batches = 0;
  #isCarrying = false;

  constructor(options: OwnedEndpointOptions) {
    this.#options = options;
    this.#usedAtMs = options.clock.nowMs();
  }

  /** When `look` shall be called, Unix ms; infinite: never. */
  get dueAtMs(): number {
    return this.#dueAtMs;
  }

  /** Null while it is not open. */
  get log(): OpenLog | null {
    return this.#phase.kind === 'open' ? this.#phase.log : null;
  }

  /** The jobs that wait and run, as far as that is committed; null: not known, so long as nobody has read its log. */
  get demand(): Demand | null {
    return this.log === null ? this.#closed.demand : this.log.demand;
  }

  /** Nothing of it is in use, nothing will be due, and it is known to have no job. */
  get isForgettable(): boolean {
    const isQuiet = this.#phase.kind === 'closed' && this.#dueAtMs === Number.POSITIVE_INFINITY;
    return isQuiet && this.#closed.demand !== null;
  }

  ask(asker: LogAsker): void {
    this.#usedAtMs = this.#options.clock.nowMs();
    this.#withLog(asker);
  }

  /** What the index says of it, where nobody has known better: what must be looked at though nobody asks. */
  note(head: HeadSeen): void {
    const isDecidedHere = this.#phase.kind === 'open' || this.#phase.kind === 'stopped';
    const closed = isDecidedHere ? null : demandAtHead(this.#closed, head);
    if (closed === null) return;
    this.#closed = closed;
    const { index } = head;
    this.#tellDemand();
    if (index === null || this.#phase.kind !== 'closed') return;
    if (index.running > 0) this.look();
    else if (index.dueAtMs !== null) this.#dueAt(Math.min(index.dueAtMs, this.#dueAtMs));
  }

  /** Looks for things that time has brought about: lives that are over, leases, deliveries. */
  look(): void {
    this.#dueAt(this.#options.clock.nowMs() + LOOK_AGAIN_MS);
    this.#withLog({
      refuse: () => undefined,
      use: (log) => {
        this.#tellDeliveries(log);
        log.perform({ kind: 'look', fraction: this.#options.random.fraction() }, ({ kind }) => {
          if (kind !== 'settled') return;
          this.#awaitNext(log);
          this.#options.onLooked(log.endpointId);
        });
      },
    });
  }

  /** Once a minute: keeps the log short, and closes what nobody uses. */
  async tend(): Promise<void> {
    const { clock, onEvent } = this.#options;
    if (this.#phase.kind !== 'open') return;
    const { carrier, log } = this.#phase;
    const isIdle = (): boolean => log.isQuiet && carrier.isPurged && clock.nowMs() - this.#usedAtMs >= IDLE_MS;
    await this.#carry(isIdle());
    if (this.log !== log || !isIdle()) return;
    this.#close(demandLeft(log));
    log.letGo();
    onEvent({ kind: 'closed', endpointId: log.endpointId, reason: 'idle' });
  }

  /** It is somebody else's from now on, or nobody's: nothing more is decided here. */
  letGo(): void {
    this.#abort.abort();
    this.log?.letGo();
  }

  #withLog(asker: LogAsker): void {
    const phase = this.#phase;
    switch (phase.kind) {
      case 'open':
        asker.use(phase.log);
        break;
      case 'opening':
        if (phase.askers.length < ASKERS_MAX) phase.askers.push(asker);
        else asker.refuse('busy');
        break;
      case 'stopped':
        if (this.#options.clock.nowMs() < phase.untilMs) asker.refuse('stopped');
        else void this.#open([asker]);
        break;
      case 'closed':
        void this.#open([asker]);
        break;
      default:
        phase satisfies never;
    }
  }

  async #open(askers: LogAsker[]): Promise<void> {
    this.#phase = { kind: 'opening', askers };
    const { clock, endpointId, onEvent, openings } = this.#options;
    const beganAtMs = clock.monotonicMs();
    const opening = await openings.run(() => this.#tryOpen());
    if (opening.kind === 'open' && !this.#abort.signal.aborted) {
      this.#begin(opening);
      onEvent({ kind: 'opened', endpointId, durationMs: clock.monotonicMs() - beganAtMs });
      for (const asker of askers) asker.use(opening.log);
      return;
    }
    if (opening.kind === 'open') opening.log.letGo();
    const reason = this.#fail(opening.kind === 'open' ? { kind: 'unsettled' } : opening);
    for (const asker of askers) asker.refuse(reason);
  }

  async #tryOpen(): Promise<Opening> {
    const { endpointId, onEvent } = this.#options;
    try {
      return await openEndpoint({ ...this.#options, onCommitted: () => this.#committed() }, this.#abort.signal);
    } catch (error) {
      onEvent({ kind: 'unanswered', endpointId, error });
      return { kind: 'unsettled' };
    }
  }

  #begin({ extent, log }: Extract<Opening, { readonly kind: 'open' }>): void {
    const { endpointId, onEvent } = this.#options;
    const onUnreadPurged = (reason: UnreadPurge): void => onEvent({ kind: 'purged-unread', endpointId, reason });
    const carrier = new Carrier({ ...this.#options, log, onUnreadPurged }, extent);
    this.#phase = { kind: 'open', log, carrier };
    this.#awaitNext(log);
    this.#tellDemand();
    void log.ended.then((end) => {
      if (this.log !== log) return;
      this.#close(demandAtEnd(log, end));
      this.#fail(end);
    });
  }

  #close(closed: ClosedDemand): void {
    this.#phase = { kind: 'closed' };
    this.#closed = closed;
    this.#tellDemand();
  }

  #fail(end: Exclude<Opening, { readonly kind: 'open' }> | LogEnd): 'stopped' | 'unsettled' {
    const { endpointId, onEvent } = this.#options;
    switch (end.kind) {
      case 'broken':
        return this.#stop(`batch ${end.sequence}: ${end.reason}`);
      case 'illegal':
        return this.#stop(`${end.fact.kind} is illegal: ${end.why}`);
      case 'fault':
        return this.#stop(`a batch cannot be committed: ${end.reason}`);
      case 'unsettled':
        break;
      case 'full':
      case 'given-up':
      case 'lost-to':
        onEvent({ kind: 'closed', endpointId, reason: end.kind });
        break;
      default:
        end satisfies never;
    }
    this.#phase = { kind: 'closed' };
    return 'unsettled';
  }

  #stop(reason: string): 'stopped' {
    const { clock, endpointId, onEvent } = this.#options;
    this.#phase = { kind: 'stopped', untilMs: clock.nowMs() + STOPPED_MS };
    this.#closed = { ...this.#closed, demand: null };
    this.#tellDemand();
    onEvent({ kind: 'stopped', endpointId, reason });
    return 'stopped';
  }

  #committed(): void {
    const { log } = this;
    if (log === null) return;
    this.#tellDemand();
    this.#awaitNext(log);
    this.#batches += 1;
    if (this.#batches % BATCHES_PER_CARRY === 0) void this.#carry(false);
  }

  async #carry(isClosing: boolean): Promise<void> {
    if (this.#phase.kind !== 'open' || this.#isCarrying) return;
    this.#isCarrying = true;
    try {
      await this.#phase.carrier.step({ isClosing });
    } catch (error) {
      this.#options.onEvent({ kind: 'unanswered', endpointId: this.#options.endpointId, error });
    } finally {
      this.#isCarrying = false;
    }
  }

  #tellDemand(): void {
    if (!this.#abort.signal.aborted) this.#options.onDemand(this);
  }

  #tellDeliveries({ endpointId, nextTryAtMs }: OpenLog): void {
    const nowMs = this.#options.clock.nowMs();
    if (nextTryAtMs > nowMs) return;
    this.#deliveriesToldAtMs = nowMs;
    this.#options.onDeliveriesDue(endpointId);
  }

  #awaitNext({ nextLookAtMs, nextTryAtMs }: OpenLog): void {
    this.#dueAt(Math.min(nextLookAtMs, Math.max(nextTryAtMs, this.#deliveriesToldAtMs + DELIVERIES_AGAIN_MS)));
  }

  #dueAt(atMs: number): void {
    if (this.#abort.signal.aborted || atMs === this.#dueAtMs) return;
    this.#dueAtMs = atMs;
    this.#options.onDue(this);
  }
}
