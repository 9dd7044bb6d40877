import { admitRequest, type EndpointId, type HostId, type WorkerId } from '@berth/domain';
import type { Clock } from '@berth/lifecycle';
import type { MetricRegistry } from '@berth/telemetry';
import type { LinkAnswer, LinkRefusal, LinkTarget, LinkWish, WorkerLink } from '@berth/tunnel';
import type { BalancedNews, BalancedWorker, BalancedWorkers, BalancedWorkerState } from './balanced-worker.js';
import { balancedGauges, balancedMetrics, type BalancedMetrics } from './metrics.js';
import { BalancedSession } from './balanced-session.js';

export interface LocalWorkerLinkOptions {
  readonly hostId: HostId;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
}

const refused = (reason: LinkRefusal): LinkAnswer => ({ kind: 'refused', reason });

/**
 * The load-balanced workers of this host, and the only way to them: each request for one is admitted here, so no worker
 * gets more at a time than it has slots, however many routers there are.
 */
export class LocalWorkerLink implements WorkerLink, BalancedWorkers {
  readonly #options: LocalWorkerLinkOptions;
  readonly #metrics: BalancedMetrics;
  readonly #sessions = new Map<WorkerId, BalancedSession>();
  readonly #listeners = new Set<(workerId: WorkerId, news: BalancedNews) => void>();
  #isClosed = false;

  constructor(options: LocalWorkerLinkOptions) {
    this.#options = options;
    this.#metrics = balancedMetrics(options.metrics);
    balancedGauges(options.metrics, {
      inFlight: () => [...this.inFlight().values()].reduce((sum, each) => sum + each, 0),
      asksWaiting: () => [...this.#sessions.values()].reduce((sum, { waitingAsks }) => sum + waitingAsks, 0),
      workersOut: () => [...this.#sessions.values()].filter(({ state }) => state.health.standing === 'out').length,
    });
  }

  async open(target: LinkTarget, signal: AbortSignal, wish: LinkWish = {}): Promise<LinkAnswer> {
    const answer = await this.#open(target, signal, wish);
    this.#metrics.requests.inc({ outcome: answer.kind === 'admitted' ? 'admitted' : answer.reason });
    return answer;
  }

  see(worker: BalancedWorker): void {
    if (this.#isClosed) return;
    const { containerId, workerId } = worker;
    const present = this.#sessions.get(workerId);
    if (present?.worker.containerId === containerId) {
      present.see(worker);
      return;
    }
    present?.close();
    const { clock } = this.#options;
    const onNews = (news: BalancedNews): void => {
      for (const listener of this.#listeners) listener(workerId, news);
    };
    this.#sessions.set(workerId, new BalancedSession(worker, { clock, metrics: this.#metrics, onNews }));
  }

  cut(workerId: WorkerId): void {
    this.#sessions.get(workerId)?.cut();
  }

  forget(workerId: WorkerId): void {
    this.#sessions.get(workerId)?.close();
    this.#sessions.delete(workerId);
  }

  state(workerId: WorkerId): BalancedWorkerState | null {
    return this.#sessions.get(workerId)?.state ?? null;
  }

  /** How many requests each endpoint has here; those without any are not named. */
  inFlight(): ReadonlyMap<EndpointId, number> {
    const counts = new Map<EndpointId, number>();
    for (const { state, worker } of this.#sessions.values()) {
      if (state.inFlight > 0) counts.set(worker.endpointId, (counts.get(worker.endpointId) ?? 0) + state.inFlight);
    }
    return counts;
  }

  subscribe(listener: (workerId: WorkerId, news: BalancedNews) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when nothing is in flight any more, or when the time is over. */
  async settled(withinMs: number): Promise<void> {
    const isSettled = new AbortController();
    const look = (): void => {
      if (this.inFlight().size === 0) isSettled.abort();
    };
    const unsubscribe = this.subscribe(look);
    look();
    await this.#options.clock.sleep(withinMs, isSettled.signal);
    unsubscribe();
  }

  /** Nothing is admitted any more, and what is in flight is cut off: the way to it goes with this process. */
  close(): void {
    this.#isClosed = true;
    for (const session of this.#sessions.values()) session.close();
  }

  async #open(target: LinkTarget, signal: AbortSignal, wish: LinkWish): Promise<LinkAnswer> {
    if (signal.aborted) return refused('timed-out');
    if (this.#isClosed) return refused('leaving');
    const session = this.#sessionOf(target);
    const refusal = admitRequest(session?.admission ?? null, target.endpointId);
    if (session === undefined) return refused('unknown-worker');
    const asker = wish.asker ?? this;
    if (refusal === null) return session.open(asker, signal);
    return refusal === 'full' && wish.mayWait === true ? session.openInTurn(asker, signal) : refused(refusal);
  }

  #sessionOf({ hostId, workerId }: LinkTarget): BalancedSession | undefined {
    return hostId === this.#options.hostId ? this.#sessions.get(workerId) : undefined;
  }
}
