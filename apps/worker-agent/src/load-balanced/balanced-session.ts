import type { Socket } from 'node:net';
import type { AdmissionView } from '@berth/domain';
import { SteadyInstant, type Clock } from '@berth/lifecycle';
import type { LinkAnswer, LinkRefusal } from '@berth/tunnel';
import type { BalancedNews, BalancedWorker, BalancedWorkerState } from './balanced-worker.js';
import { connectWorker } from './connect-worker.js';
import { HealthWatch } from './health-watch.js';
import type { BalancedMetrics } from './metrics.js';

export interface BalancedSessionTools {
  readonly clock: Clock;
  readonly metrics: BalancedMetrics;
  readonly onNews: (news: BalancedNews) => void;
}

const refused = (reason: LinkRefusal): LinkAnswer => ({ kind: 'refused', reason });

/** One container of a load-balanced worker: its requests in flight, and its health. */
export class BalancedSession {
  readonly #tools: BalancedSessionTools;
  readonly #watch: HealthWatch;
  /** One for each request; aborting it cuts the request off. */
  readonly #inFlight = new Set<AbortController>();
  #worker: BalancedWorker;
  #finished = 0;
  #lastEndedAt: SteadyInstant | null = null;

  constructor(worker: BalancedWorker, tools: BalancedSessionTools) {
    const { clock, metrics, onNews } = tools;
    this.#tools = tools;
    this.#worker = worker;
    this.#watch = new HealthWatch({ clock, metrics, wasReady: worker.wasReady, onNews: () => onNews('health') });
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

  get state(): BalancedWorkerState {
    return {
      inFlight: this.#inFlight.size,
      finishedRequests: this.#finished,
      lastRequestEndedAtMs: this.#lastEndedAt?.unixMs ?? null,
      health: this.#watch.session,
      isHealthy: this.#watch.health.standing === 'in',
    };
  }

  see(worker: BalancedWorker): void {
    const isMoved = JSON.stringify(targetOf(worker)) !== JSON.stringify(targetOf(this.#worker));
    this.#worker = worker;
    this.#checkOrRest(isMoved);
  }

  /** Counts the request before anything is waited for. To be called only when it is admitted. */
  async open(signal: AbortSignal): Promise<LinkAnswer> {
    const { address: host, port } = this.#worker;
    if (host === null) return refused('unreachable');
    const cut = new AbortController();
    this.#begin(cut);
    const { clock } = this.#tools;
    const giveUp = (): void => {
      cut.abort();
    };
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp);
    const made = await connectWorker({ host, port }, { clock, signal: cut.signal });
    signal.removeEventListener('abort', giveUp);
    if (made.kind === 'connected' && !cut.signal.aborted) {
      this.#carry(made.socket, cut);
      return { kind: 'admitted', stream: made.socket };
    }
    if (made.kind === 'connected') made.socket.destroy();
    this.#end(cut, false);
    if (made.kind !== 'failed') return refused(signal.aborted ? 'timed-out' : 'leaving');
    this.#watch.noteConnectionError(made.words);
    return refused('unreachable');
  }

  cut(): void {
    for (const each of this.#inFlight) each.abort();
  }

  close(): void {
    this.#watch.rest();
    this.cut();
  }

  #carry(socket: Socket, cut: AbortController): void {
    cut.signal.addEventListener('abort', () => socket.destroy());
    socket.once('close', () => {
      this.#end(cut, true);
    });
  }

  #begin(cut: AbortController): void {
    this.#inFlight.add(cut);
    this.#tools.onNews('requests');
  }

  #end(cut: AbortController, wasCarried: boolean): void {
    this.#inFlight.delete(cut);
    if (wasCarried) {
      this.#finished += 1;
      this.#lastEndedAt = new SteadyInstant(this.#tools.clock);
    }
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
