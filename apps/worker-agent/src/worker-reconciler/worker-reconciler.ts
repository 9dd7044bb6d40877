import type { DesiredWorker } from '@berth/contracts';
import type { ObservedWorker, WorkerId } from '@berth/domain';
import { ControlLoop } from '@berth/lifecycle';
import type { BridgeEvent } from '../bridge/index.js';
import type { OwnedContainer } from '../runtimes/index.js';
import { keyOf } from './container-view.js';
import { countPhases } from './count-phases.js';
import { asResumed, identityOf } from './desired-worker.js';
import type { HostWorkers } from './host-workers.port.js';
import { newRecord, parseRecord, type WorkerLife, type WorkerRecord } from './worker-record.js';
import { WorkerTask } from './worker-task.js';
import type { WorkerTools } from './worker-tools.js';
import type { Wish } from './worker-wish.js';

const LOOK_INTERVAL_MS = 1_000;
const DRAIN_POLL_MS = 50;
/** For what comes after the kill: jobs given back, containers removed. */
const AFTER_KILL_MS = 3_000;
/** In the history of a job whose worker was gone when its agent came back. */
const TAKEN_AWAY = 'its host was taken from it';

/**
 * Makes this host's workers what the control plane wants them to be. Each worker has a task of its own; this service
 * brings the tasks their news, and looks every second whether one of them has missed any.
 */
export class WorkerReconciler implements HostWorkers {
  readonly #tools: WorkerTools;
  readonly #tasks = new Map<WorkerId, WorkerTask>();
  readonly #listeners = new Set<() => void>();
  readonly #loop: ControlLoop;
  readonly #ends: (() => void)[] = [];
  #assigned: ReadonlyMap<WorkerId, DesiredWorker> = new Map();
  /** Of whom the last list says nothing that can be believed. */
  #isHeld: (workerId: WorkerId) => boolean = () => false;
  #isSynced = false;
  #mustLeave = false;
  #dataCenterId: string;

  constructor(tools: WorkerTools, dataCenterId: string) {
    this.#tools = tools;
    this.#dataCenterId = dataCenterId;
    this.#loop = new ControlLoop({
      name: 'workers.look',
      intervalMs: LOOK_INTERVAL_MS,
      clock: tools.clock,
      run: () => this.#look(),
      onError: (_, error) => {
        tools.logger.error('the containers of this host cannot be seen', { error });
      },
    });
  }

  /**
   * Takes up what an earlier life of the agent left, and begins. The bridge may listen already: it keeps everybody
   * waiting until it has heard here who still runs.
   */
  async start(): Promise<void> {
    const { balanced, bridge, records, runtime, logger } = this.#tools;
    const containers = await runtime.list();
    for (const [workerId, value] of records.list()) {
      const record = parseRecord(value);
      if (record === null) logger.error('a worker record cannot be understood', { workerId });
      else this.#open(record);
    }
    const known = this.#knownLives(containers);
    const removed = this.#removedLives(containers);
    await bridge.restore([...known, ...removed].map(({ registration }) => registration));
    for (const { registration, killReason } of removed) {
      await bridge.unregister(registration.workerId, { reason: killReason, isFault: false });
    }
    for (const life of known) this.#takeUp(life);
    this.#ends.push(
      bridge.subscribe((event) => this.#take(event)),
      balanced.subscribe((workerId, news) => this.#tasks.get(workerId)?.takeBalanced(news)),
    );
    this.#ends.push(
      runtime.watch(() => {
        this.#loop.hurry();
      }),
    );
    for (const task of this.#tasks.values()) task.start();
    this.#loop.start();
  }

  setDesired(
    desired: readonly DesiredWorker[],
    dataCenterId: string,
    isHeld: (workerId: WorkerId) => boolean = () => false,
  ): void {
    const held = [...this.#assigned].filter(([workerId]) => isHeld(workerId));
    this.#assigned = new Map([...held, ...desired.map((assigned) => [assigned.workerId, assigned] as const)]);
    this.#isHeld = isHeld;
    this.#isSynced = true;
    this.#dataCenterId = dataCenterId;
    for (const assigned of desired) {
      if (!this.#tasks.has(assigned.workerId)) this.#open(newRecord(identityOf(assigned), assigned.restarts)).start();
    }
    this.#tellWishes();
  }

  resume(workerIds: readonly WorkerId[]): void {
    const resumed = workerIds.flatMap((workerId) => this.#assigned.get(workerId) ?? []).map(asResumed);
    if (resumed.length === 0) return;
    this.#assigned = new Map([...this.#assigned, ...resumed.map((each) => [each.workerId, each] as const)]);
    this.#tellWishes();
  }

  observed(): readonly ObservedWorker[] {
    return [...this.#tasks.values()].flatMap(({ observed }) => (observed === null ? [] : [observed]));
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stops looking after the workers; their containers go on. */
  async stop(): Promise<void> {
    for (const end of this.#ends.splice(0)) end();
    await this.#loop.stop();
    await Promise.all([...this.#tasks.values()].map((task) => task.stop()));
  }

  /** Makes every worker leave: running jobs may end within `limitMs`, then the rest is killed and their jobs given back. */
  async drainAll(limitMs: number): Promise<void> {
    const { clock, logger } = this.#tools;
    this.#mustLeave = true;
    this.#tellWishes();
    if (await this.#areGone(limitMs)) return;
    for (const task of this.#tasks.values()) task.demandKill('the agent of this host was stopped');
    if (!(await this.#areGone(AFTER_KILL_MS))) logger.error('workers are left running', { at: clock.nowMs() });
  }

  async #areGone(withinMs: number): Promise<boolean> {
    const { clock } = this.#tools;
    const untilMs = clock.monotonicMs() + withinMs;
    while (!(await this.#isEmpty())) {
      if (clock.monotonicMs() >= untilMs) return false;
      await clock.sleep(DRAIN_POLL_MS);
    }
    return true;
  }

  /** Nothing runs, and every task has seen it: what is reported last must be true. */
  async #isEmpty(): Promise<boolean> {
    const containers = await this.#tools.runtime.list();
    return containers.length === 0 && this.observed().every(({ phase }) => phase === 'removed');
  }

  /** Of those that have ended too: their tasks give their jobs back, and can say how they ended. */
  #knownLives(containers: readonly OwnedContainer[]): readonly NonNullable<WorkerRecord['life']>[] {
    const records = [...this.#tools.records.list().values()].map(parseRecord);
    return containers.flatMap(({ state, labels, containerId }) => {
      const life = records.find((record) => record?.identity.workerId === labels.workerId)?.life ?? null;
      const isKnown = life !== null && (life.containerId === null || life.containerId === containerId);
      return isKnown && state.kind !== 'created' ? [life] : [];
    });
  }

  /** Of those that are gone because an earlier life of the agent, its runtime at this start, or the host's ruler took them away. */
  #removedLives(containers: readonly OwnedContainer[]): readonly RemovedLife[] {
    const present = new Set(containers.map(({ labels }) => labels.workerId));
    const otherwise = this.#tools.runtime.isTakenAwayWhenGone === true ? TAKEN_AWAY : null;
    return [...this.#tools.records.list().values()].flatMap((value) => {
      const life = parseRecord(value)?.life ?? null;
      if (life === null || present.has(life.registration.workerId)) return [];
      const killReason = life.killReason ?? otherwise;
      return killReason === null ? [] : [{ ...life, killReason }];
    });
  }

  /** As it was left: what it must not get, it gets no more now; and its program goes on listening where it did. */
  #takeUp({ heldAtMs = null, listens, registration: { workerId }, releasedAtMs }: WorkerLife): void {
    const { bridge, ports, runtime } = this.#tools;
    if (releasedAtMs !== null) void bridge.beginDrain(workerId);
    else if (heldAtMs !== null) void bridge.holdPolls(workerId);
    if (listens === undefined || runtime.sharesPorts !== true) return;
    ports.adopt(workerId, [listens.port, ...listens.healthPorts]);
  }

  #open(record: WorkerRecord): WorkerTask {
    const { workerId } = record.identity;
    const task = new WorkerTask({
      tools: this.#tools,
      record,
      wish: this.#wish(workerId),
      onObserved: () => {
        this.#changed();
      },
      onForgotten: () => {
        this.#forget(workerId);
      },
    });
    this.#tasks.set(workerId, task);
    return task;
  }

  #forget(workerId: WorkerId): void {
    // Wanted again between its last look and now: the task goes on.
    if (this.#assigned.has(workerId)) return;
    const task = this.#tasks.get(workerId);
    this.#tasks.delete(workerId);
    void task?.stop();
    this.#tools.logs.close(workerId);
    this.#changed();
  }

  #wish(workerId: WorkerId): Wish {
    const assigned = this.#assigned.get(workerId) ?? null;
    const isSynced = this.#isSynced && (assigned !== null || !this.#isHeld(workerId));
    return { assigned, isSynced, mustLeave: this.#mustLeave, dataCenterId: this.#dataCenterId };
  }

  #tellWishes(): void {
    for (const [workerId, task] of this.#tasks) task.setWish(this.#wish(workerId));
  }

  #take(event: BridgeEvent): void {
    if (event.kind === 'job-started') this.#tools.logs.noteJobStart(event.workerId, event.jobId);
    if (event.kind === 'job-ended') this.#tools.logs.noteJobEnd(event.workerId, event.jobId);
    this.#tasks
      .get(event.workerId)
      ?.take(event)
      .catch((error: unknown) => {
        this.#tools.logger.error('news of a worker could not be kept', { workerId: event.workerId, error });
      });
  }

  /** Compares what runs with what the tasks believe; a difference wakes the task. */
  async #look(): Promise<void> {
    const containers = await this.#tools.runtime.list();
    const seen = new Set<WorkerId>();
    for (const container of containers) {
      const { workerId, endpointId, release } = container.labels;
      seen.add(workerId);
      const task = this.#tasks.get(workerId);
      if (task === undefined) this.#open(newRecord({ workerId, endpointId, release, gpuTypeId: null }, 0)).start();
      else if (task.containerKey !== keyOfOwned(container)) task.hurry();
    }
    for (const [workerId, task] of this.#tasks) {
      if (!seen.has(workerId) && task.containerKey !== 'absent') task.hurry();
    }
  }

  #changed(): void {
    countPhases(this.#tools.metrics, this.observed());
    for (const listener of this.#listeners) listener();
  }
}

type RemovedLife = WorkerLife & { readonly killReason: string };

function keyOfOwned({ state, containerId }: OwnedContainer): string {
  if (state.kind === 'created') return 'absent';
  return keyOf(
    state.kind !== 'ended'
      ? { kind: 'running', containerId, startedAtMs: 0, isPaused: state.kind === 'paused' }
      : { kind: 'exited', containerId, exitCode: null, reason: '' },
  );
}
