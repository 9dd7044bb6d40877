import type { Msg, NatsConnection, Subscription } from '@nats-io/transport-node';
import { CONTROL_HINT_SUBJECT, DEMAND_SUBJECTS, hostDemandSubject, hostOfSubject } from '@berth/contracts';
import type { Shortage, UnreadableMessage } from '@berth/domain';
import { ControlLoop, type Clock } from '@berth/lifecycle';
import type { Logger, MetricRegistry } from '@berth/telemetry';
import { type LeaderLease, type LeaderTerm, TermOverError } from '../leadership/index.js';
import { ResettableTimer } from './resettable-timer.js';
import type { DemandBoard } from './demand/demand-board.js';
import type { FleetReconciler } from './fleet-reconciler.js';
import { controllersMetrics, tellFleet, tellLeadership } from './metrics.js';
import { paceAfter, quietAfterMs, type PassPace } from './pass-pace.js';
import { readDemand, readHostDemand } from './demand/read-demand.js';

export interface ControlLoopsOptions {
  readonly connection: NatsConnection;
  readonly lease: LeaderLease;
  readonly demand: DemandBoard;
  /** Made anew for each term: what the last term remembered may be out of date. */
  readonly newFleet: (term: LeaderTerm) => FleetReconciler;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricRegistry;
  /** Told of a message that cannot be used; it is dropped. */
  readonly onUnreadable: (message: UnreadableMessage) => void;
}

const LEASE_INTERVAL_MS = 1_500;
const PASS_INTERVAL_MS = 1_000;

/** The loops of the controllers process: one renews the lease, one runs the fleet while it is held. */
export class ControlLoops {
  readonly #options: ControlLoopsOptions;
  readonly #leadershipLoop: ControlLoop;
  readonly #fleetLoop: ControlLoop;
  readonly #recheck: ResettableTimer;
  readonly #metrics: ReturnType<typeof controllersMetrics>;
  readonly #subscriptions: Subscription[] = [];
  #pace: PassPace | null = null;
  #fleet: { readonly term: LeaderTerm; readonly reconciler: FleetReconciler } | null = null;

  constructor(options: ControlLoopsOptions) {
    this.#options = options;
    this.#metrics = controllersMetrics(options.metrics);
    const { clock, lease } = options;
    tellLeadership(options.metrics, () => lease.isLeader());
    tellFleet(options.metrics, () => (lease.isLeader() ? (this.#fleet?.reconciler.figures ?? null) : null));
    const loop = (name: string, intervalMs: number, run: (signal: AbortSignal) => Promise<void>): ControlLoop =>
      new ControlLoop({ name, intervalMs, clock, run, onError: (_, error) => this.#report(name, error) });
    this.#leadershipLoop = loop('leadership', LEASE_INTERVAL_MS, () => this.#lead());
    this.#fleetLoop = loop('fleet', PASS_INTERVAL_MS, (signal) => this.#look(signal));
    this.#recheck = new ResettableTimer(clock, () => {
      this.#fleetLoop.hurry();
    });
  }

  start(): void {
    this.#listen(DEMAND_SUBJECTS, (message) => {
      this.#options.demand.take(readDemand(message.string()), this.#options.clock.monotonicMs());
    });
    this.#listen(hostDemandSubject('*'), (message) => {
      const told = readHostDemand(message.string(), hostOfSubject(message.subject));
      this.#options.demand.take(told, this.#options.clock.monotonicMs());
    });
    this.#listen(CONTROL_HINT_SUBJECT, () => undefined);
    this.#leadershipLoop.start();
    this.#fleetLoop.start();
  }

  /** The lease is given back last: by then nothing more is written in its name. */
  async stop(): Promise<void> {
    for (const subscription of this.#subscriptions.splice(0)) subscription.unsubscribe();
    this.#recheck.set(null);
    await this.#leadershipLoop.stop();
    await this.#fleetLoop.stop();
    await this.#options.lease.release();
  }

  /** Of the last pass of the leader; null where this process is none, or has made no pass in this term. */
  get shortages(): readonly Shortage[] | null {
    const { lease } = this.#options;
    const isOfThisTerm = this.#fleet?.term.number === lease.currentTerm().number;
    return lease.isLeader() && isOfThisTerm ? (this.#fleet?.reconciler.shortages ?? null) : null;
  }

  /** Every message is a hint besides what it says. One that cannot be read is told and dropped. */
  #listen(subject: string, take: (message: Msg) => void): void {
    const callback = (error: Error | null, message: Msg): void => {
      try {
        if (error !== null) throw error;
        take(message);
        this.#fleetLoop.hurry();
      } catch (problem) {
        const reason = problem instanceof Error ? problem.message : String(problem);
        this.#options.onUnreadable({ place: subject, key: message.subject, reason });
      }
    };
    this.#subscriptions.push(this.#options.connection.subscribe(subject, { callback }));
  }

  async #lead(): Promise<void> {
    const { lease, logger } = this.#options;
    const wasLeader = lease.isLeader();
    const isLeader = await lease.acquire();
    if (isLeader === wasLeader) return;
    logger.info(isLeader ? `leading, term ${lease.currentTerm().number}` : 'not leading any more');
    this.#fleetLoop.hurry();
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { clock, lease, logger } = this.#options;
    if (!lease.isLeader()) return;
    const endTimer = this.#metrics.passes.startTimer();
    const startedAtMs = clock.monotonicMs();
    try {
      const { recheckAtMs } = await this.#reconciler().run();
      this.#recheck.set(recheckAtMs);
    } catch (error) {
      if (!(error instanceof TermOverError)) throw error;
      logger.warn('the term ended in the middle of a pass');
    } finally {
      endTimer();
      this.#pace = paceAfter(this.#pace, { startedAtMs, endedAtMs: clock.monotonicMs() });
      const quietMs = quietAfterMs(this.#pace);
      if (quietMs > 0) await clock.sleep(quietMs, signal);
    }
  }

  #reconciler(): FleetReconciler {
    const term = this.#options.lease.currentTerm();
    if (this.#fleet?.term.number !== term.number) this.#fleet = { term, reconciler: this.#options.newFleet(term) };
    return this.#fleet.reconciler;
  }

  #report(name: string, error: unknown): void {
    this.#metrics.failures.inc();
    this.#options.logger.warn(`control loop ${name} failed; it runs again`, { error });
  }
}
