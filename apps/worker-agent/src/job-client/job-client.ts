import { TAKE_ANSWER_MAX_MS, type StopMessage, type TakenJob, type WithdrawMessage } from '@berth/contracts';
import { LEASE_TRUST_MS, type RawJson, type WorkerId } from '@berth/domain';
import type { Clock, Random } from '@berth/lifecycle';
import type { Logger, MetricRegistry, Step, Traces } from '@berth/telemetry';
import type { Journal } from '../journal/index.js';
import {
  attemptId,
  HostAttempt,
  logged,
  refOf,
  type Attempt,
  type ChunkText,
  type Ending,
  type Loss,
  type StopReason,
} from './attempts/attempt.js';
import { AttemptRecords } from './attempts/attempt-records.js';
import { AttemptTable, type Intake } from './attempts/attempt-table.js';
import { EarlyStops } from './attempts/early-stops.js';
import { EndsPost } from './reports/ends-post.js';
import { HostTakes, type SentWish, type TakeAsk } from './host-takes.js';
import { downloadInput } from './input-download.js';
import { jobText } from './job-text.js';
import { LeaseRenewer } from './attempts/lease-renewer.js';
import { heldAttemptsMetric, jobClientMetrics, type JobClientMetrics } from './metrics.js';
import type { RouterLink } from './router-link.port.js';
import { SlowWatch } from './reports/slow-watch.js';
import { StoppedAttempts, type LogLines } from './attempts/stopped-attempts.js';
import { UplinkWindow } from './reports/uplink-window.js';
import { DEFAULT_WORKER_SHARE, type WorkerShare } from './attempts/worker-shares.js';

export interface JobClientOptions {
  readonly link: RouterLink;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: MetricRegistry;
  readonly log: Logger;
  readonly traces: Pick<Traces, 'step'>;
  /** The share of the journal that one worker may have; `DEFAULT_WORKER_SHARE` unless said. */
  readonly share?: WorkerShare;
}

/** A job that this host now holds; `prepare` makes it ready for the worker. */
export interface TakenAttempt {
  readonly attempt: Attempt;
  readonly job: TakenJob;
}

export type TakeOutcome =
  { readonly kind: 'jobs'; readonly jobs: readonly TakenAttempt[] } | { readonly kind: 'none' | 'not-placed' };

export type StopListener = (attempt: Attempt, reason: StopReason) => void;

const TICK_MS = 250;
/** A worker waits for a router to have its result; what takes longer is written down first. */
const SLOW_ROUTER_MS = 40;
const RESTORE_RENEWALS_MAX = 3;
/** A held take lasts 5 s at most; a job that it brings to nobody would be missing until its lease runs out. */
const STOP_GRACE_MS = 6_000;
const STOP_LOOK_MS = 50;
/** At the end of a job's life the routers are asked whether a caller has prolonged it; silence for so long is a no. */
const EXPIRY_ANSWER_MS = 5_000;
const GONE_AFTER_RESTART = { reason: 'its worker was gone after a restart', isCharged: true, logTail: [] } as const;

/**
 * The jobs of this host between the routers and the workers: takes them, keeps their leases, watches their time, and
 * reports their ends until a router has acknowledged each.
 */
export class JobClient {
  readonly #options: JobClientOptions;
  readonly #records: AttemptRecords;
  readonly #metrics: JobClientMetrics;
  readonly #table: AttemptTable;
  readonly #stopped: StoppedAttempts;
  readonly #renewer: LeaseRenewer;
  readonly #takes: HostTakes;
  readonly #earlyStops = new EarlyStops();
  readonly #listeners = new Set<StopListener>();
  readonly #stopping = new AbortController();
  #subscriptions: (() => void)[] = [];
  #isStopping = false;

  constructor(options: JobClientOptions) {
    const { link, journal, clock, random, log, traces, share = DEFAULT_WORKER_SHARE } = options;
    this.#options = options;
    this.#records = new AttemptRecords({ journal, clock, share });
    this.#metrics = jobClientMetrics(options.metrics);
    const tools = { link, clock, random, log, traces, metrics: this.#metrics, records: this.#records };
    const window = new UplinkWindow(clock);
    const lanes = { ...tools, window, ends: new EndsPost({ link, clock }), signal: this.#stopping.signal };
    this.#stopped = new StoppedAttempts(lanes);
    this.#table = new AttemptTable({
      ...tools,
      lanes,
      stopped: this.#stopped,
      slow: new SlowWatch(clock, SLOW_ROUTER_MS),
      onStop: (attempt, reason) => {
        for (const listener of this.#listeners) listener(attempt, reason);
      },
    });
    this.#renewer = new LeaseRenewer({
      ...tools,
      held: () => this.#table.values(),
      onLost: (attempt) =>
        this.#table.end(attempt, clock.monotonicMs() >= attempt.expiresAtMs ? 'expired' : 'superseded'),
    });
    this.#takes = new HostTakes({
      ...{ link, clock, random, metrics: this.#metrics, signal: this.#stopping.signal },
      onLate: (jobs, wish) => {
        for (const { attempt } of jobs.flatMap((job) => this.#adopt(job, wish))) {
          this.giveBack(attempt, 'it reached its host when nobody waited for it any more');
        }
      },
    });
    heldAttemptsMetric(options.metrics, () => this.#table.size);
  }

  /** False while the journal is too full for new work, and once the agent stops. */
  get canTake(): boolean {
    return this.#records.hasRoom && !this.#isStopping;
  }

  /** False also while what this worker's jobs brought fills its share of the journal. */
  canTakeFor(workerId: WorkerId): boolean {
    return this.canTake && this.#records.hasRoomOf(workerId);
  }

  /**
   * Takes up what the journal holds: unsent reports are sent, attempts of living workers are renewed before they may
   * go on, those of others are lost. Returns the attempts that living workers still hold, those that they shall let go
   * among them.
   */
  async restore(isAlive: (workerId: WorkerId) => boolean): Promise<readonly Attempt[]> {
    const stored = this.#records.load().filter((each) => this.#table.holdStored(each));
    const open = stored.map(({ attempt }) => attempt);
    const stopped = this.#stopped.restore((id) => this.#table.get(id));
    for (const { id, workerId } of stopped) if (!isAlive(workerId)) void this.#stopped.letGo(id, []);
    const orphans = open.filter(({ workerId }) => !isAlive(workerId));
    await Promise.all(orphans.map((attempt) => this.lose(attempt, GONE_AFTER_RESTART)));
    const alive = open.filter(({ workerId }) => isAlive(workerId));
    for (let round = 0; round < RESTORE_RENEWALS_MAX; round += 1) {
      const nowMs = this.#options.clock.monotonicMs();
      const untrusted = alive.filter((attempt) => attempt.state === 'open' && attempt.trustedUntilMs <= nowMs);
      if (untrusted.length === 0) break;
      await this.#renewer.renew(untrusted);
    }
    return [...alive, ...stopped.filter(({ workerId }) => isAlive(workerId))];
  }

  /** Begins to watch time and stop messages. */
  start(): void {
    const { clock, link } = this.#options;
    const ticking = clock.every(TICK_MS, () => this.#tick());
    this.#subscriptions = [ticking, link.onStop((message) => this.#onStop(message))];
  }

  /**
   * Takes no more, and lets what is under way end: jobs that held takes still bring are dealt with, results that can be
   * sent are sent. After `graceMs` nothing more is sent; what was not acknowledged stays in the journal. What workers still
   * run is renewed once more, so that the next life of the agent has a whole lease to come in. Without grace nothing is sent.
   */
  async stop(graceMs: number = STOP_GRACE_MS): Promise<void> {
    const { clock } = this.#options;
    this.#isStopping = true;
    const untilMs = clock.monotonicMs() + graceMs;
    const isBusy = () => this.#takes.waiting > 0 || this.#stopped.isReporting || this.#table.isReporting;
    while (isBusy() && clock.monotonicMs() < untilMs) await clock.sleep(STOP_LOOK_MS);
    if (graceMs > 0) await this.#renewer.renew([...this.#table.values()]);
    for (const end of this.#subscriptions.splice(0)) end();
    this.#stopping.abort();
  }

  /** Told when a held job must stop before its worker has finished it; once per attempt. */
  onStop(listener: StopListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Asks for jobs and holds what comes. @throws when no router answered */
  async take(ask: TakeAsk): Promise<TakeOutcome> {
    const { answer, sentAtMs } = await this.#takes.ask(ask);
    if (answer.kind !== 'jobs') return { kind: answer.kind };
    this.#metrics.taken.inc(answer.jobs.length);
    const jobs = answer.jobs.flatMap((job) => this.#adopt(job, { workerId: ask.workerId, sentAtMs }));
    return jobs.length === 0 ? { kind: 'none' } : { kind: 'jobs', jobs };
  }

  /** A worker takes no more: ends what routers hold for it. A job that crosses with this comes all the same. */
  withdraw(worker: WithdrawMessage): void {
    try {
      this.#options.link.withdraw(worker);
    } catch (error) {
      this.#options.log.debug('Takes could not be withdrawn; they end by themselves.', { ...worker, error });
    }
  }

  /**
   * Fetches the input and writes the delivery down. Null: the job can't be handed out, and that has been taken care of.
   */
  async prepare({ attempt: { id }, job }: TakenAttempt): Promise<string | null> {
    const attempt = this.#table.get(id);
    if (attempt === undefined) return null;
    const traceparent = attempt.step?.traceparent ?? null;
    const step = this.#options.traces.step(traceparent);
    try {
      const download = await downloadInput(this.#options, job);
      if (download.kind === 'gone') {
        this.#table.drop(attempt);
        return null;
      }
      if (attempt.state !== 'open') return null;
      await this.#records.putAttempt(attempt);
      return attempt.state === 'open' ? jobText({ ...job, input: download.json, traceparent }) : null;
    } catch (error) {
      this.#options.log.warn('A job could not be prepared for its worker.', { ...logged(attempt), error });
      this.giveBack(attempt, 'it could not be prepared on its host');
      return null;
    } finally {
      step?.end({ name: 'prepare job' });
    }
  }

  /** Begins what is done for an attempt that this host has, in the trace of its job; null: nobody records it. */
  step({ id }: Attempt): Step | null {
    return this.#options.traces.step(this.#table.get(id)?.step?.traceparent);
  }

  /** Returns a job that its worker never started; nobody pays for it. */
  giveBack(attempt: Attempt, reason: string): void {
    this.#metrics.givenBack.inc();
    void this.lose(attempt, { reason, isCharged: false, logTail: [] });
    void this.letGo(attempt);
  }

  /** The attempt ended without a result. Resolves once that is written down, or the journal has refused it. */
  async lose({ id }: Attempt, loss: Omit<Loss, 'kind'>): Promise<void> {
    await this.#table.settleByHost(id, { kind: 'lost', ...loss });
  }

  /**
   * The worker has the attempt no longer. Where it was told to stop, the router hears when that was.
   *
   * @param lines what it wrote last, where somebody can tell
   */
  letGo({ id }: Attempt, lines: LogLines = []): Promise<void> {
    return this.#stopped.letGo(id, lines);
  }

  /**
   * The worker's own word. `dropped`: the attempt had ended before.
   * @throws JournalFullError; the attempt then stays open, unless its worker's share is used up: then it has failed
   */
  settle({ id }: Attempt, ending: Ending): Promise<Intake> {
    this.#enforceTime(id);
    return this.#table.settle(id, ending);
  }

  /** Stream chunks in the order of the calls, each at most `CHUNK_MAX_BYTES`. @throws JournalFullError as `settle` does */
  addChunks({ id }: Attempt, bodies: readonly ChunkText[]): Promise<Intake> {
    this.#enforceTime(id);
    return this.#table.addChunks(id, bodies);
  }

  /** Shows a running job's progress, if a router can be reached; a newer one replaces one that waits. */
  showProgress({ id }: Attempt, output: RawJson): void {
    this.#table.addProgress(id, output);
  }

  #adopt(job: TakenJob, { sentAtMs, workerId }: SentWish): TakenAttempt[] {
    const nowMs = this.#options.clock.monotonicMs();
    const ref = refOf(job);
    if (this.#table.get(attemptId(ref)) !== undefined) return [];
    const attempt = new HostAttempt({
      ...{ ref, workerId, traceparent: job.traceparent },
      executionEndsAtMs: nowMs + job.executionTimeoutMs,
      expiresAtMs: nowMs + job.expiresInMs,
      // The router wrote the lease after this was sent, so nobody else can have the job before then and 25 s.
      trustedUntilMs: sentAtMs + LEASE_TRUST_MS,
    });
    this.#table.hold(attempt);
    if (this.#earlyStops.takeOut(ref, nowMs)) {
      // The job has not reached a worker that would have to be told.
      attempt.stop = 'cancelled';
      this.#table.end(attempt, 'cancelled');
      void this.letGo(attempt);
      return [];
    }
    if (nowMs - sentAtMs <= TAKE_ANSWER_MAX_MS) return [{ attempt, job }];
    this.giveBack(attempt, 'it reached its host too late');
    return [];
  }

  /** A worker's word after its time does not count, also where this process stood still and could not watch. */
  #enforceTime(id: string): void {
    const attempt = this.#table.get(id);
    if (attempt?.state === 'open') this.#watch(attempt, this.#options.clock.monotonicMs());
  }

  #tick(): void {
    const nowMs = this.#options.clock.monotonicMs();
    for (const attempt of this.#table.values()) if (attempt.state === 'open') this.#watch(attempt, nowMs);
    this.#renewer.tick();
  }

  #watch(attempt: HostAttempt, nowMs: number): void {
    if (nowMs >= attempt.expiresAtMs + EXPIRY_ANSWER_MS) {
      this.#table.end(attempt, 'expired');
    } else if (nowMs >= attempt.executionEndsAtMs) {
      this.#table.timeOut(attempt);
    } else if (nowMs >= attempt.trustedUntilMs) {
      this.#table.tellStop(attempt, 'untrusted');
    }
  }

  #onStop({ jobs }: StopMessage): void {
    for (const stop of jobs) {
      const attempt = this.#table.get(attemptId(stop));
      if (attempt === undefined) this.#earlyStops.remember(stop, this.#options.clock.monotonicMs());
      else if (attempt.ref.token === stop.token) this.#table.end(attempt, 'cancelled');
    }
  }
}
