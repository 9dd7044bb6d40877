import {
  describeChange,
  describeEnd,
  observeWorker,
  planWorker,
  type ContainerState,
  type WantedWorker,
  type ObservedWorker,
  type Preparation,
  type WorkerOperation,
  type WorkerView,
} from '@berth/domain';
import { ControlLoop } from '@berth/lifecycle';
import type { BridgeEvent } from '../bridge/index.js';
import type { BalancedNews, WorkerListening } from '../load-balanced/index.js';
import type { OwnedContainer } from '../runtimes/index.js';
import { keyOf, viewContainer } from './container-view.js';
import { listeningOf, slotsOfWorker, toDesired, toDrained } from './desired-worker.js';
import { HeldUp } from './held-up.js';
import { viewBalanced, viewSession } from './live-session.js';
import { PrepareTask } from './prepare-task.js';
import type { WorkerRecord } from './worker-record.js';
import { WorkerSteps, type StartFacts } from './worker-steps.js';
import type { WorkerTools } from './worker-tools.js';
import { PresentWish, type Wish } from './worker-wish.js';

export interface WorkerTaskOptions {
  readonly tools: WorkerTools;
  readonly record: WorkerRecord;
  readonly wish: Wish;
  readonly onObserved: () => void;
  /** Nothing is left of it and nobody asks for it. */
  readonly onForgotten: () => void;
}

/** Without any hint; whatever changes hurries the task. */
const INTERVAL_MS = 10_000;
/** After an error, and when so many steps were taken in one go that others should have a turn. */
const RETRY_MS = 1_000;
const STEPS_MAX = 20;
/** Jobs begin and end by the thousand in a second; the container need not be looked at for each. */
const JOB_NEWS_PAUSE_MS = 250;

/** One worker's serial task: observe, plan, apply one step, again, until the plan is to wait. */
export class WorkerTask {
  readonly #options: WorkerTaskOptions;
  readonly #steps: WorkerSteps;
  readonly #preparing: PrepareTask;
  /** Of a start: this task waits for its end, and has nothing else to say meanwhile. */
  readonly #starting: HeldUp;
  readonly #loop: ControlLoop;
  readonly #wish: PresentWish;
  #container: ContainerState = { kind: 'absent' };
  #observed: ObservedWorker | null = null;
  /** As the runtime had it at the last look. */
  #found: OwnedContainer | null = null;
  /** The container is known as it is now: it was looked at in this run, and nothing was done to it since. */
  #isSeen = false;
  #alarm = new AbortController();

  constructor(options: WorkerTaskOptions) {
    const { tools, record, wish } = options;
    this.#options = options;
    this.#wish = new PresentWish(wish);
    this.#steps = new WorkerSteps(tools, record);
    this.#preparing = new PrepareTask(tools, () => {
      this.hurry();
    });
    this.#starting = new HeldUp(tools.logger, () => void this.#plan(tools.clock.nowMs()));
    this.#loop = new ControlLoop({
      name: 'worker.reconcile',
      intervalMs: INTERVAL_MS,
      clock: tools.clock,
      run: (signal) => this.#run(signal),
      onError: (_, error) => {
        tools.logger.error('worker task failed', { workerId: record.identity.workerId, error });
        this.#wakeIn(RETRY_MS);
      },
    });
  }

  /** Null until it has been looked at once. */
  get observed(): ObservedWorker | null {
    return this.#observed;
  }

  /** Changes when the container in view changes; lets the reconciler see that a task has missed something. */
  get containerKey(): string {
    return keyOf(this.#container);
  }

  start(): void {
    this.#openLog();
    this.#loop.start();
  }

  hurry(): void {
    this.#loop.hurry();
  }

  /** Stops looking after it; its container goes on. */
  async stop(): Promise<void> {
    this.#alarm.abort();
    this.#wish.end();
    this.#preparing.cancel();
    await this.#loop.stop();
    this.#alarm.abort();
  }

  setWish(wish: Wish): void {
    if (!this.#wish.set(wish)) return;
    this.#openLog();
    if (this.#wish.signal.aborted) this.#preparing.cancel();
    this.hurry();
  }

  async take(event: BridgeEvent): Promise<void> {
    if (event.kind === 'first-poll') await this.#steps.noteReady();
    if (event.kind === 'kill-needed') this.#steps.demandKill(event.reason);
    if (event.kind === 'job-ended' && (event.outcome === 'completed' || event.outcome === 'failed')) {
      this.#steps.noteFinishedJob();
    }
    if (event.kind === 'job-started' || event.kind === 'job-ended') this.#loop.hurryPaced(JOB_NEWS_PAUSE_MS);
    else this.hurry();
  }

  takeBalanced(news: BalancedNews): void {
    if (news === 'requests') this.#loop.hurryPaced(JOB_NEWS_PAUSE_MS);
    else this.hurry();
  }

  demandKill(reason: string): void {
    this.#steps.demandKill(reason);
    this.hurry();
  }

  async #run(signal: AbortSignal): Promise<void> {
    this.#alarm.abort();
    this.#isSeen = false;
    for (let step = 0; step < STEPS_MAX; step += 1) {
      if (signal.aborted || (await this.#step(signal))) return;
    }
    this.#wakeIn(RETRY_MS);
  }

  /** True when there is nothing to do now. */
  async #step(signal: AbortSignal): Promise<boolean> {
    const { clock, records } = this.#options.tools;
    const { identity } = this.#steps.record;
    await this.#fold();
    if (!this.#isSeen) await this.#look();
    await this.#balance();
    // It may have been stopped meanwhile: of a preparation that began now nobody would see the end.
    if (signal.aborted) return true;
    const nowMs = clock.nowMs();
    const operation = this.#plan(nowMs);
    if (operation.kind === 'wait-until') {
      if (operation.untilMs !== null) this.#wakeIn(operation.untilMs - nowMs);
      return true;
    }
    if (operation.kind === 'forget') {
      await records.remove(identity.workerId);
      this.#options.onForgotten();
      return true;
    }
    // Neither touches the container.
    this.#isSeen = operation.kind === 'prepare' || operation.kind === 'write-journal';
    if (operation.kind === 'prepare') this.#preparing.begin(this.#wish.now.assigned);
    else await this.#steps.apply(operation, this.#container, this.#startFacts());
    return false;
  }

  /** What is to be done, once it is told how it stands. */
  #plan(nowMs: number): WorkerOperation {
    const view = this.#view();
    const { operation, condition } = planWorker(view, nowMs);
    this.#publish(observeWorker(this.#steps.record.identity, { view, condition, previous: this.#observed }, nowMs));
    return operation;
  }

  /** Takes in what happened beside the task: a preparation's end, and a first poll that was told before anybody listened. */
  async #fold(): Promise<void> {
    const failure = this.#preparing.takeFailure();
    if (failure !== null) await this.#steps.fail(failure);
    if (this.#options.tools.bridge.state(this.#steps.record.identity.workerId)?.hasPolled === true) {
      await this.#steps.noteReady();
    }
  }

  async #look(): Promise<void> {
    const { runtime } = this.#options.tools;
    this.#found = await runtime.inspect(this.#steps.record.identity.workerId);
    this.#see(await viewContainer(runtime, this.#found));
  }

  /** Says how a load-balanced worker is now, so that it gets requests, or none; and takes in that it is well. */
  async #balance(): Promise<void> {
    const found = this.#found;
    const { balanced } = this.#options.tools;
    const { record, session } = this.#steps;
    const { workerId } = record.identity;
    if (session === null || record.life === null || found?.containerId !== session.containerId) return;
    const { assigned } = this.#wish.now;
    const listens = this.#listens();
    if (listens === null) return;
    balanced.see({
      ...viewBalanced(record, found, { ...listens, slots: assigned === null ? null : slotsOfWorker(assigned) }),
      isLeaving: record.life.releasedAtMs !== null || session.killReason !== null,
    });
    if (balanced.state(workerId)?.isHealthy === true) await this.#steps.noteReady();
  }

  /** Null of a queue's worker, and where that is not known. */
  #listens(): WorkerListening | null {
    const { life } = this.#steps.record;
    const { assigned } = this.#wish.now;
    if (life?.listens !== undefined) return life.listens;
    return assigned === null || this.#options.tools.runtime.sharesPorts === true ? null : listeningOf(assigned);
  }

  #openLog(): void {
    const { endpointId, workerId } = this.#steps.record.identity;
    this.#options.tools.logs.open({ workerId, endpointId, accountId: this.#wish.now.assigned?.accountId ?? null });
  }

  /** What it prints is kept from its first sight on; that it has ended is said once. */
  #see(container: ContainerState): void {
    const isNews = keyOf(container) !== keyOf(this.#container);
    this.#container = container;
    if (container.kind === 'absent' || !isNews) return;
    const { logger, logs } = this.#options.tools;
    const { endpointId, workerId } = this.#steps.record.identity;
    const { containerId } = container;
    logs.follow(workerId, containerId);
    if (container.kind !== 'exited') return;
    const how = describeEnd(container);
    logs.sayEnded(workerId, how, containerId);
    logger.info('worker ended', { workerId, endpointId, containerId, exitCode: container.exitCode, how });
  }

  #view(): WorkerView {
    const { record, session } = this.#steps;
    const { balanced, bridge } = this.#options.tools;
    const { imagePercent } = this.#preparing;
    const heldUpBy = this.#preparing.heldUpBy ?? this.#starting.by;
    const { workerId } = record.identity;
    const seen = { address: bridge.address, state: bridge.state(workerId), balanced: balanced.state(workerId) };
    return {
      desired: this.#desired(),
      isSynced: this.#wish.now.isSynced,
      container: this.#container,
      isTakenAwayWhenGone: this.#options.tools.runtime.isTakenAwayWhenGone === true,
      preparation: this.#preparation(),
      ...(imagePercent === null ? {} : { imagePercent }),
      ...(heldUpBy === null ? {} : { heldUpBy }),
      session: session === null ? null : viewSession(session, record.life, seen),
      journal: record.journal,
    };
  }

  #desired(): WantedWorker | null {
    const { assigned, mustLeave } = this.#wish.now;
    const { identity, journal } = this.#steps.record;
    const healthPort = this.#options.tools.balanced.state(identity.workerId)?.healthPort ?? null;
    const told = { generation: journal.generation, listens: this.#listens(), healthPort };
    if (!mustLeave) return assigned === null ? null : toDesired(assigned, told);
    return toDrained(assigned, told.generation);
  }

  /** A container that is there was prepared, by this life of the agent or an earlier one. */
  #preparation(): Preparation {
    return this.#container.kind === 'absent' ? this.#preparing.state : 'done';
  }

  #startFacts(): StartFacts | null {
    const { assigned, dataCenterId } = this.#wish.now;
    return assigned === null ? null : { assigned, dataCenterId, signal: this.#wish.signal, heldUp: this.#starting };
  }

  #publish(observed: ObservedWorker): void {
    if (JSON.stringify(observed) === JSON.stringify(this.#observed)) return;
    const change = describeChange(this.#observed, observed);
    if (change !== null) this.#options.tools.logs.say(observed.workerId, change);
    this.#observed = observed;
    this.#options.onObserved();
  }

  #wakeIn(ms: number): void {
    this.#alarm.abort();
    const alarm = new AbortController();
    this.#alarm = alarm;
    void this.#options.tools.clock.sleep(Math.max(0, ms), alarm.signal).then(() => {
      if (!alarm.signal.aborted) this.hurry();
    });
  }
}
