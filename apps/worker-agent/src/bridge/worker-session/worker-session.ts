import type { WorkerId } from '@berth/domain';
import { Semaphore, SteadyInstant, type Clock, type Random } from '@berth/lifecycle';
import type { Logger } from '@berth/telemetry';
import type { Attempt, ChunkText, Ending, JobClient, JsonOutput, StopReason } from '../../job-client/index.js';
import { AskingWatch } from './asking-watch.js';
import { BodySemaphores } from '../bodies/body-semaphores.js';
import type { BridgeEvent, BridgeWorkerState, ReadLogTail, WorkerAdmission, WorkerDeparture } from '../bridge.port.js';
import { findLoss } from './find-loss.js';
import { HeldJobs, type HeldJob } from './held-jobs.js';
import { lossOf, SIBLING_KILLED, outcomeOfStop, type JobOutcome, type LossSign } from './lost-jobs.js';
import type { BridgeMetrics } from '../metrics.js';
import type { PostedResult } from '@berth/contracts';
import type { StartWaits } from './start-waits.js';
import { StopPolls } from './stop-polls.js';
import { TakePolls } from './take-polls.js';
import { isRefreshDue, mustBeKilled } from './watch-worker.js';
import { WorkerPolls } from './worker-polls.js';
import type { WorkerCall } from '../http/worker-call.js';
import type { WorkerReply } from '../http/worker-reply.js';

export interface SessionTools {
  readonly client: JobClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: BridgeMetrics;
  readonly log: Logger;
  readonly emit: (event: BridgeEvent) => void;
  readonly logTail: ReadLogTail;
  readonly startWaits: StartWaits;
}

const KILL_REPEAT_MS = 5_000;
/** Above what a worker with hundreds of jobs at a time may have under way. */
const CALLS_MAX = 512;

/** One start of one worker: what it holds, what it asks, and what is known of its health. */
export class WorkerSession {
  readonly workerId: WorkerId;
  readonly token: string;
  readonly bodies = new BodySemaphores();
  /** One above the bound is refused. */
  readonly calls = new Semaphore(CALLS_MAX);
  readonly #tools: SessionTools;
  readonly #jobs = new HeldJobs();
  readonly #polls: WorkerPolls;
  readonly #asking: AskingWatch;
  #hasPolled = false;
  #lastJobEndedAt: SteadyInstant | null = null;
  #hasCalled = false;
  #isDraining = false;
  #wantsRecycle: string | null = null;
  #sdkVersion: string | null = null;
  #ping: { readonly atMs: number; readonly atUnixMs: number } | null = null;
  #seenAtMs: number;
  /** Why the process has to go, whatever it says from now on. */
  #doom: string | null = null;
  #killAskedAtMs: number | null = null;

  constructor(worker: WorkerAdmission & { readonly isAdopted: boolean }, tools: SessionTools) {
    const { clock, random } = tools;
    this.workerId = worker.workerId;
    this.token = worker.token;
    this.#tools = tools;
    this.#seenAtMs = clock.monotonicMs();
    this.#asking = new AskingWatch(this.#seenAtMs);
    const onDelivered = (attempt: Attempt): void => this.#onDelivered(attempt);
    const takes = new TakePolls({ ...worker, ...tools, jobs: this.#jobs, onDelivered });
    const stops = new StopPolls(clock, random, () => this.#jobs.stoppingIds());
    this.#polls = new WorkerPolls(takes, stops, clock);
  }

  get state(): BridgeWorkerState {
    const { latestDeadlineAtMs } = this.#jobs;
    return {
      phase: this.#phase(),
      runningJobs: this.#jobs.size,
      latestDeadlineAtMs: latestDeadlineAtMs === null ? null : this.#toUnixMs(latestDeadlineAtMs),
      lastJobEndedAtMs: this.#lastJobEndedAt?.unixMs ?? null,
      hasPolled: this.#hasPolled,
      hasCalled: this.#hasCalled,
      notAskingSinceMs: this.#isAsking ? null : this.#toUnixMs(this.#asking.askedAtMs),
      sdkVersion: this.#sdkVersion,
      lastPingAtMs: this.#ping?.atUnixMs ?? null,
      wantsRecycle: this.#wantsRecycle,
    };
  }

  /** A job that this worker had before the agent's restart. */
  adopt(attempt: Attempt): void {
    this.#hasPolled = true;
    this.#jobs.add(attempt, this.#tools.clock.monotonicMs(), { isAdopted: true });
    // The first renewal may have told it already.
    if (attempt.stop !== null) this.stop(attempt, attempt.stop);
  }

  /** Of a job that the worker has; null: it has it not. */
  attemptOf(jobId: string): Attempt | null {
    return this.#jobs.get(jobId)?.attempt ?? null;
  }

  /** Anything that the worker says shows that it lives. */
  noteCall(): void {
    this.#hasCalled = true;
    this.#seenAtMs = this.#tools.clock.monotonicMs();
  }

  async serveTake(call: WorkerCall & { readonly kind: 'take' }, reply: WorkerReply): Promise<void> {
    const nowMs = this.#tools.clock.monotonicMs();
    this.#jobs.noteLoop(nowMs);
    if (call.isIdle) for (const job of this.#jobs.noteIdle(nowMs)) this.#letGo(job, 'idle');
    if (!this.#hasPolled) {
      this.#hasPolled = true;
      this.#tools.emit({ kind: 'first-poll', workerId: this.workerId });
    }
    await this.#polls.takes.serve(call, reply);
  }

  async serveStop(reply: WorkerReply): Promise<void> {
    this.#jobs.noteLoop(this.#tools.clock.monotonicMs());
    await this.#polls.stops.serve(reply);
  }

  servePing({ jobIds, sdkVersion }: WorkerCall & { readonly kind: 'ping' }): void {
    const { clock } = this.#tools;
    this.#ping = { atMs: clock.monotonicMs(), atUnixMs: clock.nowMs() };
    this.#sdkVersion = sdkVersion ?? this.#sdkVersion;
    for (const job of this.#jobs.notePing(new Set(jobIds), this.#ping.atMs)) this.#letGo(job, 'ping');
  }

  /** Takes no more jobs, and asks to be replaced. */
  wantRecycle(reason: string): void {
    if (this.#wantsRecycle !== null) return;
    this.#wantsRecycle = reason;
    void this.#polls.release();
    this.#tools.emit({ kind: 'recycle-wanted', workerId: this.workerId, reason });
  }

  /** @throws JournalFullError: the worker must be told to try again */
  async serveChunks(jobId: string, bodies: readonly ChunkText[]): Promise<void> {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    this.#notePost(job);
    const outcome = await this.#tools.client.addChunks(job.attempt, bodies);
    if (outcome === 'dropped') this.#tools.metrics.droppedResults.inc({ reason: 'ended' });
  }

  /** @throws JournalFullError: the worker must be told to try again */
  async serveResult(jobId: string, posted: PostedResult<JsonOutput>): Promise<void> {
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    this.#notePost(job);
    if (posted.kind === 'result') await this.#end(job, posted.ending);
    else if (job.stop === null && typeof posted.output === 'string') {
      // What is larger than a report may be is never shown.
      this.#tools.client.showProgress(job.attempt, posted.output);
    }
  }

  #notePost(job: HeldJob): void {
    job.wasPosted = true;
    this.#jobs.noteMain(this.#tools.clock.monotonicMs());
  }

  /** Resolves when the process may get SIGTERM. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#polls.release();
  }

  /** Its process has got SIGTERM. */
  noteAskedToEnd(): void {
    void this.#polls.answerWhenHeard();
  }

  /** Resolves when its container may be frozen. */
  async hold(): Promise<void> {
    await this.#polls.hold();
  }

  open(): void {
    this.#polls.takes.open();
  }

  /** Tells the worker to stop a job, and keeps telling it until the job is let go. */
  stop(attempt: Attempt, reason: StopReason): void {
    const job = this.#jobs.get(attempt.ref.jobId);
    if (job?.attempt !== attempt || job.stop !== null) return;
    job.stop = { reason, sinceMs: this.#tools.clock.monotonicMs() };
    this.#polls.stops.wake();
  }

  /** Looks for jobs that would not stop, and for a worker that has gone silent. */
  watch(): void {
    const nowMs = this.#tools.clock.monotonicMs();
    this.#asking.look(this.#isAsking, nowMs);
    this.#doom ??= this.#findDoom(nowMs);
    if (this.#doom !== null) {
      for (const job of this.#jobs.values()) {
        this.#letGo(job, this.#jobs.isHeard(job, this.#seenAtMs) ? 'silence' : 'unheard');
      }
      this.#wantsRecycle = this.#doom;
      this.#askKill(this.#doom, nowMs);
    }
    for (const job of this.#jobs.values()) this.#watchStop(job, nowMs);
  }

  get #isAsking(): boolean {
    // One that gets no job for now need not ask for one.
    return this.#jobs.size > 0 || this.#polls.takes.isOpen || this.#polls.takes.isHeld;
  }

  #findDoom(nowMs: number): string | null {
    const { resumedAtMs } = this.#asking;
    return findLoss(this.#jobs, { nowMs, pingedAtMs: this.#ping?.atMs ?? null, seenAtMs: this.#seenAtMs, resumedAtMs });
  }

  /** The process is gone. Resolves once every job it had is written down as lost. */
  async leave({ reason, isFault }: WorkerDeparture): Promise<void> {
    const isKilled = this.#killAskedAtMs !== null;
    void this.#polls.release();
    await Promise.all(
      this.#jobs.values().map(async ({ attempt, stop }) => {
        this.#jobs.remove(attempt);
        const isCharged = isFault && !isKilled && stop === null;
        await this.#lose(attempt, { reason: isKilled ? SIBLING_KILLED : reason, isCharged });
        this.#tools.metrics.lostByWorker.inc({ sign: 'departure' });
        this.#emitEnded(attempt, stop === null ? 'lost' : outcomeOfStop(stop.reason));
      }),
    );
  }

  /** Of a stopped job only one that was not renewed is still open; any other has been settled. */
  async #lose(attempt: Attempt, loss: { readonly reason: string; readonly isCharged: boolean }): Promise<void> {
    const { client, logTail } = this.#tools;
    const lines = await logTail(this.workerId);
    await client.lose(attempt, { ...loss, logTail: lines });
    await client.letGo(attempt, lines);
  }

  #watchStop(job: HeldJob, nowMs: number): void {
    if (mustBeKilled({ nowMs, stop: job.stop })) {
      this.#askKill(`job ${job.attempt.ref.jobId} did not stop`, nowMs);
    } else if (isRefreshDue({ ...job, nowMs })) {
      job.refreshes += 1;
      this.#polls.takes.refresh();
    }
  }

  async #end(job: HeldJob, ending: Ending & { readonly kind: 'completed' | 'failed' }): Promise<void> {
    const { client, clock, logTail, metrics } = this.#tools;
    const outcome = await client.settle(job.attempt, ending);
    if (outcome === 'dropped') metrics.droppedResults.inc({ reason: 'ended' });
    if (!this.#jobs.remove(job.attempt)) return;
    this.#jobs.noteMain(clock.monotonicMs());
    void client.letGo(job.attempt, job.stop === null ? [] : logTail(this.workerId));
    const stopped = job.stop === null ? 'stopped' : outcomeOfStop(job.stop.reason);
    this.#emitEnded(job.attempt, outcome === 'accepted' ? ending.kind : stopped);
  }

  /** By its own words or silence the worker has the job no longer. */
  #letGo(job: HeldJob, seenBy: LossSign): void {
    if (!this.#jobs.remove(job.attempt)) return;
    this.#jobs.noteMain(this.#tools.clock.monotonicMs());
    if (job.stop === null) {
      const { sign, ...loss } = lossOf(job, seenBy);
      this.#tools.metrics.lostByWorker.inc({ sign });
      void this.#lose(job.attempt, loss);
      this.#emitEnded(job.attempt, 'lost');
      return;
    }
    void this.#lose(job.attempt, { reason: 'its host could not reach a router in time', isCharged: false });
    this.#emitEnded(job.attempt, outcomeOfStop(job.stop.reason));
  }

  #askKill(reason: string, nowMs: number): void {
    if (this.#killAskedAtMs !== null && nowMs - this.#killAskedAtMs < KILL_REPEAT_MS) return;
    if (this.#killAskedAtMs === null) this.#tools.metrics.kills.inc();
    this.#killAskedAtMs = nowMs;
    void this.#polls.takes.release();
    this.#tools.emit({ kind: 'kill-needed', workerId: this.workerId, reason });
  }

  #onDelivered({ ref }: Attempt): void {
    const { jobId, attempt } = ref;
    this.#tools.emit({ kind: 'job-started', workerId: this.workerId, jobId, attempt });
  }

  #emitEnded({ ref }: Attempt, outcome: JobOutcome): void {
    const { jobId, attempt } = ref;
    this.#lastJobEndedAt = new SteadyInstant(this.#tools.clock);
    this.#tools.emit({ kind: 'job-ended', workerId: this.workerId, jobId, attempt, outcome });
  }

  #toUnixMs(monotonicMs: number): number {
    const { clock } = this.#tools;
    return Math.round(clock.nowMs() + monotonicMs - clock.monotonicMs());
  }

  #phase(): BridgeWorkerState['phase'] {
    if (this.#isDraining) return 'draining';
    if (this.#jobs.size > 0) return 'busy';
    return this.#hasPolled ? 'idle' : 'starting';
  }
}
