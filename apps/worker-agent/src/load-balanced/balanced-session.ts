import type { Socket } from 'node:net';
import { admitRequest, type AdmissionView } from '@berth/domain';
import { SteadyInstant, type Clock } from '@berth/lifecycle';
import type { LinkAnswer, LinkRefusal } from '@berth/tunnel';
import type { BalancedNews, BalancedWorker, BalancedWorkerState } from './balanced-worker.js';
import { connectWorker } from './connect-worker.js';
import { HealthWatch } from './health-watch.js';
import type { BalancedMetrics } from './metrics.js';
import { WaitingAsks } from './waiting-asks.js';

export interface BalancedSessionTools {
  readonly clock: Clock;
  readonly metrics: BalancedMetrics;
  readonly onNews: (news: BalancedNews) => void;
}

/** Of one request: aborting `cut` cuts it off. */
interface Slot {
  readonly asker: object;
  readonly cut: AbortController;
}

const MS_PER_SECOND = 1_000;

const refused = (reason: LinkRefusal): LinkAnswer => ({ kind: 'refused', reason });

/** One container of a load-balanced worker: its requests in flight, and its health. */
export class BalancedSession {
  readonly #tools: BalancedSessionTools;
  readonly #watch: HealthWatch;
  /** One for each request. */
  readonly #inFlight = new Set<Slot>();
  readonly #asks: WaitingAsks<Slot>;
  #worker: BalancedWorker;
  #finished = 0;
  #lastEndedAt: SteadyInstant | null = null;

  constructor(worker: BalancedWorker, tools: BalancedSessionTools) {
    const { clock, metrics, onNews } = tools;
    this.#tools = tools;
    this.#worker = worker;
    this.#asks = new WaitingAsks(clock);
    const onHealth = (): void => {
      this.#giveSlots();
      onNews('health');
    };
    this.#watch = new HealthWatch({ clock, metrics, wasReady: worker.wasReady, onNews: onHealth });
    this.#checkOrRest(true);
  }

  get worker(): BalancedWorker {
    return this.#worker;
  }

  get admission(): AdmissionView {
    const { endpointId, isAwake, isLeaving, slots } = this.#worker;
    const isHealthy = this.#watch.health.standing === 'in';
    return { endpointId, slots, isAwake, isLeaving, isHealthy, inFlight: this.#inFlight.size };
  }

  /** Questions that wait for a slot. */
  get waitingAsks(): number {
    return this.#asks.size;
  }

  get state(): BalancedWorkerState {
    return {
      inFlight: this.#inFlight.size,
      finishedRequests: this.#finished,
      lastRequestEndedAtMs: this.#lastEndedAt?.unixMs ?? null,
      health: this.#watch.session,
      isHealthy: this.#watch.health.standing === 'in',
      healthPort: this.#watch.health.answeredOn,
    };
  }

  see(worker: BalancedWorker): void {
    const isMoved = JSON.stringify(targetOf(worker)) !== JSON.stringify(targetOf(this.#worker));
    this.#worker = worker;
    this.#checkOrRest(isMoved);
    this.#giveSlots();
  }

  /** Counts the request before anything is waited for. To be called only when it is admitted. */
  open(asker: object, signal: AbortSignal): Promise<LinkAnswer> {
    const slot = this.#take(asker);
    this.#tools.onNews('requests');
    return this.#connect(slot, signal);
  }

  /** Waits for a slot, in turn. To be called only when nothing but that is in its way. */
  async openInTurn(asker: object, signal: AbortSignal): Promise<LinkAnswer> {
    const outcome = await this.#asks.wait(asker, signal);
    return outcome.kind === 'given' ? this.#connect(outcome.slot, signal) : outcome;
  }

  async #connect(slot: Slot, signal: AbortSignal): Promise<LinkAnswer> {
    const { address: host, port } = this.#worker;
    if (host === null) {
      this.#end(slot, false);
      return refused('unreachable');
    }
    const { clock, metrics } = this.#tools;
    const beganAtMs = clock.monotonicMs();
    const giveUp = (): void => {
      slot.cut.abort();
    };
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp);
    const made = await connectWorker({ host, port }, { clock, signal: slot.cut.signal });
    signal.removeEventListener('abort', giveUp);
    if (made.kind === 'connected' && !slot.cut.signal.aborted) {
      metrics.connect.observe((clock.monotonicMs() - beganAtMs) / MS_PER_SECOND);
      this.#carry(made.socket, slot);
      return { kind: 'admitted', stream: made.socket };
    }
    if (made.kind === 'connected') made.socket.destroy();
    this.#end(slot, false);
    if (made.kind !== 'failed') return refused(signal.aborted ? 'timed-out' : 'leaving');
    this.#watch.noteConnectionError(made.words);
    return refused('unreachable');
  }

  cut(): void {
    for (const { cut } of this.#inFlight) cut.abort();
  }

  close(): void {
    this.#watch.rest();
    this.#asks.dismiss('leaving');
    this.cut();
  }

  #carry(socket: Socket, slot: Slot): void {
    slot.cut.signal.addEventListener('abort', () => socket.destroy());
    socket.once('close', () => {
      this.#end(slot, true);
    });
  }

  #take(asker: object): Slot {
    const slot: Slot = { asker, cut: new AbortController() };
    this.#inFlight.add(slot);
    this.#asks.given(asker);
    return slot;
  }

  /** Gives what is free to those who wait, as long as they would be admitted now; else they hear why not. */
  #giveSlots(): void {
    let refusal = admitRequest(this.admission, this.#worker.endpointId);
    while (refusal === null && this.#asks.give((asker) => this.#take(asker))) {
      refusal = admitRequest(this.admission, this.#worker.endpointId);
    }
    if (refusal !== null && refusal !== 'full') this.#asks.dismiss(refusal);
  }

  #end(slot: Slot, wasCarried: boolean): void {
    this.#inFlight.delete(slot);
    this.#asks.returned(slot.asker);
    if (wasCarried) {
      this.#finished += 1;
      this.#lastEndedAt = new SteadyInstant(this.#tools.clock);
    }
    this.#giveSlots();
    this.#tools.onNews('requests');
  }

  /** One that rests, or leaves, need not be well. */
  #checkOrRest(isMoved: boolean): void {
    const target = targetOf(this.#worker);
    if (target === null) this.#watch.rest();
    else if (isMoved || !this.#watch.isWatching) this.#watch.watch(target);
  }
}

/** Null where there is nothing to be asked. */
function targetOf({ address, healthPath, healthPorts, isAwake, isLeaving }: BalancedWorker) {
  return address === null || !isAwake || isLeaving ? null : { address, healthPath, healthPorts };
}
