import type { DesiredWorker } from '@berth/contracts';
import { withStartFailure, type ContainerState, type WorkerOperation } from '@berth/domain';
import type { WorkerAdmission, WorkerRegistration } from '../bridge/index.js';
import { type ContainerStart, RuntimeError } from '../runtimes/index.js';
import { listeningOnFree, portVariables, type WorkerListening } from '../load-balanced/index.js';
import { checkVariables, factsOf, listeningOf, readArgs, slotsOfWorker } from './desired-worker.js';
import { newSession, type LiveSession } from './live-session.js';
import { describeFailure, type Failure } from './describe-failure.js';
import { PauseSteps, isPauseStep, type PauseStep } from './pause-steps.js';
import type { HeldUp } from './held-up.js';
import type { WorkerLife, WorkerRecord } from './worker-record.js';
import type { WorkerTools } from './worker-tools.js';

type Step = Exclude<WorkerOperation, { readonly kind: 'wait-until' | 'prepare' | 'forget' }>;

const TOKEN_LENGTH = 40;
const UNKNOWN_CONTAINER = 'the agent has lost its record of this container';
const BEGUN_UNSEEN = 'its program began only after its agent had begun anew, which knows no token of it';

/**
 * The effects of a worker's steps. Each may be repeated after a crash at any point: what must be known afterwards is on
 * disk before the world is touched.
 */
export class WorkerSteps {
  readonly #tools: WorkerTools;
  #record: WorkerRecord;
  #session: LiveSession | null = null;
  readonly #pauses: PauseSteps;

  constructor(tools: WorkerTools, record: WorkerRecord) {
    this.#tools = tools;
    this.#record = record;
    this.#pauses = new PauseSteps(tools, {
      workerId: record.identity.workerId,
      saveHeld: (heldAtMs) => this.#saveLife({ heldAtMs }),
      note: (change) => this.#noteSession(change),
    });
  }

  get record(): WorkerRecord {
    return this.#record;
  }

  get session(): LiveSession | null {
    return this.#session;
  }

  async apply(step: Step, container: ContainerState, start: StartFacts | null): Promise<void> {
    return isPauseStep(step) ? this.#pauses.apply(step) : this.#apply(step, container, start);
  }

  async #apply(step: Exclude<Step, PauseStep>, container: ContainerState, start: StartFacts | null): Promise<void> {
    switch (step.kind) {
      case 'start':
        return start === null ? undefined : this.#start(start);
      case 'adopt':
        return this.#adopt(container);
      case 'release-parked-polls':
        return this.#release();
      case 'stop':
        return this.#stop(start);
      case 'kill':
        return this.#kill(step.reason);
      case 'give-back-jobs':
        this.#tools.balanced.cut(this.#id);
        return this.#tools.bridge.unregister(this.#id, { reason: step.reason, isFault: step.isCharged });
      case 'remove':
        return this.#remove();
      case 'write-journal':
        return this.#save({ journal: step.journal });
      default:
        step satisfies never;
    }
  }

  /** Notes that a preparation or a start failed at once. */
  async fail(failure: Failure): Promise<void> {
    this.#tools.logger.warn('worker not started', { workerId: this.#id, reason: failure.reason });
    await this.#save({ journal: withStartFailure(this.#record.journal, failure, this.#tools.clock.nowMs()) });
  }

  /** From now on the plan kills the container. */
  demandKill(reason: string): void {
    if (this.#session !== null) this.#session = { ...this.#session, killReason: this.#session.killReason ?? reason };
  }

  noteFinishedJob(): void {
    if (this.#session !== null) this.#session = { ...this.#session, finishedJobs: this.#session.finishedJobs + 1 };
  }

  async noteReady(): Promise<void> {
    if (this.#record.life?.readyAtMs === null) await this.#saveLife({ readyAtMs: this.#tools.clock.nowMs() });
  }

  /** True when the container in view is the one of the record. */
  knows(containerId: string): boolean {
    const { life } = this.#record;
    return life !== null && (life.containerId === null || life.containerId === containerId);
  }

  get #id() {
    return this.#record.identity.workerId;
  }

  async #start({ assigned, dataCenterId, heldUp, signal }: StartFacts): Promise<void> {
    const { bridge, random, runtime, metrics, volumes } = this.#tools;
    const { workerId, endpointId, endpointType } = assigned;
    const admission: WorkerAdmission = { workerId, endpointId, endpointType, token: random.id(TOKEN_LENGTH) };
    // What its last container printed goes with that container.
    await this.#tools.logs.settle(workerId);
    await this.#save({ life: newLife(admission, bridge.address) });
    try {
      const listens = await this.#listening(assigned);
      const registration = { ...admission, facts: factsOf(assigned, dataCenterId, this.#portVariables(listens)) };
      if (listens !== null) await this.#saveLife({ listens, slots: slotsOfWorker(assigned) });
      const { volume } = assigned;
      const mounts = volume === undefined ? {} : { volumeFolder: await volumes.folderOf(volume) };
      const start = { ...this.#containerStart(assigned, registration), ...mounts };
      const { containerId } = await runtime.start(start, { signal, onHeldUp: heldUp.hearer(workerId, signal) });
      await this.#saveLife({ containerId });
      this.#session = newSession(containerId, this.#tools.clock);
      this.#tools.logs.follow(workerId, containerId);
      metrics.starts.inc({ outcome: 'started' });
    } catch (error) {
      await this.#noteNotStarted(signal.aborted ? brokenOff() : error);
    } finally {
      heldUp.clear();
    }
  }

  async #noteNotStarted(error: unknown): Promise<void> {
    const isBrokenOff = error instanceof RuntimeError && error.reason === 'cancelled';
    this.#tools.metrics.starts.inc({ outcome: error instanceof RuntimeError ? error.reason : 'unknown' });
    this.#tools.ports.release(this.#id);
    const reason = isBrokenOff ? 'its start was broken off' : 'it could not be started';
    await this.#tools.bridge.unregister(this.#id, { reason, isFault: !isBrokenOff });
    await this.#save({ life: null });
    if (!isBrokenOff) await this.fail(describeFailure(error));
    else this.#tools.logger.info(reason, { workerId: this.#id });
  }

  /** @throws RuntimeError where no port is free */
  async #listening(assigned: DesiredWorker): Promise<WorkerListening | null> {
    const { ports, runtime } = this.#tools;
    const listens = listeningOf(assigned);
    if (listens === null || runtime.sharesPorts !== true) return listens;
    const free = await listeningOnFree(this.#id, assigned.container.env, ports);
    if (free === null) throw new RuntimeError('start-failed', 'This host has no free port for it.');
    return free;
  }

  #portVariables(listens: WorkerListening | null): Readonly<Record<string, string>> {
    return listens === null || this.#tools.runtime.sharesPorts !== true ? {} : portVariables(listens);
  }

  /** @throws RuntimeError when the endpoint's words cannot be given to a program */
  #containerStart(assigned: DesiredWorker, registration: WorkerRegistration): ContainerStart {
    const { workerId, endpointId, release, container, imageDigest, registryCredentials, resources } = assigned;
    const { hostId } = this.#tools;
    const args = readArgs(container.args);
    checkVariables(container.env);
    const { vcpus, memoryBytes, diskBytes, gpuTypeId: typeId, gpuCount: count } = resources;
    return {
      labels: {
        ...{ hostId, workerId, endpointId, release, image: container.image },
        ...(imageDigest === undefined ? {} : { imageDigest }),
      },
      args,
      env: this.#tools.bridge.registerWorker(registration),
      limits: { vcpus, memoryBytes, diskBytes: container.diskGb === null ? null : diskBytes },
      gpu: typeId === null || count === 0 ? null : { typeId, count },
      ...(registryCredentials === undefined ? {} : { credentials: registryCredentials }),
    };
  }

  /** What was delivered to it, and its place at the bridge, were restored when the agent started. */
  async #adopt(container: ContainerState): Promise<void> {
    if (container.kind === 'absent') return;
    const { containerId } = container;
    const isKnown = this.knows(containerId);
    if (isKnown) await this.#saveLife({ containerId });
    const fresh = newSession(containerId, this.#tools.clock);
    this.#session = { ...fresh, isAdopted: true, killReason: this.#reasonToKill(isKnown) };
    this.#tools.logger.info('worker adopted', { workerId: this.#id, isKnown });
  }

  /** Null where it may go on. */
  #reasonToKill(isKnown: boolean): string | null {
    if (!isKnown) return UNKNOWN_CONTAINER;
    // What had not begun when the agent did was not restored: all that it says would be refused, and it would count as failed.
    const isRestored = this.#tools.bridge.state(this.#id) !== null;
    return this.#record.life?.killReason ?? (isRestored ? null : BEGUN_UNSEEN);
  }

  async #release(): Promise<void> {
    await this.#saveLife({ releasedAtMs: this.#tools.clock.nowMs() });
    await this.#tools.bridge.beginDrain(this.#id);
  }

  #noteSession(change: Partial<LiveSession>): void {
    if (this.#session !== null) this.#session = { ...this.#session, ...change };
  }

  async #stop(start: StartFacts | null): Promise<void> {
    await this.#saveLife({ stoppedAtMs: this.#tools.clock.nowMs() });
    this.#tools.logs.say(this.#id, 'asked to end (SIGTERM)');
    // Their time is over, if there were any.
    this.#tools.balanced.cut(this.#id);
    await this.#tools.runtime.stop(this.#id, start?.assigned.executionTimeoutMs ?? 0);
    this.#tools.bridge.noteAskedToEnd(this.#id);
  }

  async #kill(reason: string): Promise<void> {
    this.#tools.logger.warn('worker killed', { workerId: this.#id, reason });
    this.#tools.logs.say(this.#id, `killed: ${reason}`);
    if (this.#session !== null) {
      await this.#saveLife({ killReason: this.#session.killReason });
      this.#session = { ...this.#session, killedAtMs: this.#tools.clock.nowMs(), killedBecause: reason };
    }
    // The system closes what a process leaves behind, which would look as if the worker had said all.
    this.#tools.balanced.cut(this.#id);
    await this.#tools.runtime.kill(this.#id);
  }

  async #remove(): Promise<void> {
    const { bridge, metrics, runtime } = this.#tools;
    const isExpected = this.#record.life?.stoppedAtMs != null || this.#session?.killReason != null;
    await this.#tools.logs.settle(this.#id);
    await runtime.remove(this.#id);
    await bridge.unregister(this.#id, { reason: 'it was removed', isFault: false });
    this.#tools.balanced.forget(this.#id);
    this.#tools.ports.release(this.#id);
    // What never ran has not ended.
    if (this.#session !== null) metrics.ends.inc({ expected: String(isExpected) });
    await this.#save({ life: null });
    this.#session = null;
  }

  async #saveLife(change: Partial<WorkerLife>): Promise<void> {
    const { life } = this.#record;
    // A container that is not known has no life to note anything about; it is killed anyway.
    if (life !== null) await this.#save({ life: { ...life, ...change } });
  }

  async #save(change: Partial<WorkerRecord>): Promise<void> {
    this.#record = { ...this.#record, ...change };
    await this.#tools.records.put(this.#id, this.#record);
  }
}

/** What a start is made of. */
export interface StartFacts {
  readonly assigned: DesiredWorker;
  readonly dataCenterId: string;
  /** Aborts once the worker shall not run any more, or not be looked after here. */
  readonly signal: AbortSignal;
  /** Told what keeps the host from beginning with it, until the start is over. */
  readonly heldUp: HeldUp;
}

/** How it ended is no news of a worker that nobody wants. */
const brokenOff = (): RuntimeError => new RuntimeError('cancelled', 'The worker is not wanted any more.');

const newLife = (registration: WorkerAdmission, bridgeAddress: string): WorkerLife => ({
  containerId: null,
  registration,
  bridgeAddress,
  readyAtMs: null,
  releasedAtMs: null,
  stoppedAtMs: null,
  heldAtMs: null,
  killReason: null,
});
